// Profiles: what ran when, on which thread, and how much time each operation took.
import * as data from './data.js';
import { emptyPage, by, h, short } from './dom.js';
import * as state from './state.js';

const LANE = 18, ROWS = 200, HEAD = 26, NAMES = 150;

const micro = value => value >= 1e6 ? short(value / 1e6) + ' s' : value >= 1e3 ? short(value / 1e3) + ' ms' : short(value) + ' µs';

function color(name) {
    let sum = 0;
    for (const letter of name)
        sum = (sum * 31 + letter.charCodeAt(0)) >>> 0;
    return data.COLORS[sum % data.COLORS.length];
}

// Events that overlap on a lane stand below each other.
function stack(events, lanes) {
    const rows = lanes.map(() => []), out = [];
    for (const [lane, name, start, length] of [...events].sort((a, b) => a[2] - b[2] || b[3] - a[3])) {
        const ends = rows[lane] || (rows[lane] = []);
        let level = ends.findIndex(end => end <= start + 1e-9);
        if (level < 0)
            level = Math.min(ends.length, 11);
        ends[level] = start + length;
        out.push({ lane, name, start, length, level });
    }
    let top = HEAD;
    const tops = rows.map(ends => {
        const at = top;
        top += Math.max(1, ends.length) * LANE + 8;
        return at;
    });
    return { events: out, tops, height: top + 4 };
}

class Timeline {
    constructor(found) {
        Object.assign(this, stack(found.events, found.lanes), { lanes: found.lanes });
        this.first = this.events.reduce((low, event) => Math.min(low, event.start), Infinity);
        this.last = this.events.reduce((high, event) => Math.max(high, event.start + event.length), 0);
        if (!(this.last > this.first))
            [this.first, this.last] = [0, 1];
        this.view = [this.first, this.last];
        this.canvas = h('canvas', { tabIndex: 0, role: 'img', 'aria-label': 'Timeline of ' + this.events.length + ' events. Arrow keys move, plus and minus zoom, 0 shows all.' });
        this.element = h('div', { class: 'plot' }, this.canvas);
        this.element.style.height = Math.min(640, this.height) + 'px';
        this.scroll = 0;
        new ResizeObserver(() => this.draw()).observe(this.element);
        this.listen();
    }

    draw() {
        const width = this.element.clientWidth, height = this.element.clientHeight, scale = devicePixelRatio || 1, [from, to] = this.view, g = this.canvas.getContext('2d'), names = Math.min(NAMES, width / 4);
        if (!width)
            return;
        this.canvas.width = width * scale;
        this.canvas.height = height * scale;
        const css = getComputedStyle(this.element), X = time => names + (time - from) / (to - from) * (width - names);
        g.scale(scale, scale);
        g.font = '11px ' + css.fontFamily;
        g.save();
        g.beginPath();
        g.rect(names, HEAD, width, height);
        g.clip();
        for (const event of this.events) {
            const x = X(event.start), w = Math.max(1, X(event.start + event.length) - x), y = (this.tops[event.lane] ?? HEAD) + event.level * LANE - this.scroll;
            if (x + w < names || x > width || y < 0 || y > height)
                continue;
            g.fillStyle = event === this.chosen ? css.getPropertyValue('--text') : color(event.name);
            g.fillRect(x, y, w, LANE - 2);
            if (w > 30) {
                g.save();
                g.beginPath();
                g.rect(x, y, w - 2, LANE);
                g.clip();
                g.fillStyle = '#fff';
                g.textBaseline = 'middle';
                g.fillText(event.name, x + 4, y + LANE / 2 - .5);
                g.restore();
            }
        }
        g.restore();
        g.fillStyle = css.getPropertyValue('--soft');
        g.textBaseline = 'middle';
        this.lanes.forEach((name, i) => {
            const y = this.tops[i] - this.scroll;
            if (y < HEAD - LANE || y > height)
                return;
            g.save();
            g.beginPath();
            g.rect(0, HEAD, names - 8, height);
            g.clip();
            g.fillText(name, 0, y + LANE / 2);
            g.restore();
            g.fillRect(0, y - 5, width, .5);
        });
        g.textAlign = 'center';
        const marks = Math.max(2, Math.floor((width - names) / 90));
        for (let i = 1; i < marks; i++)
            g.fillText(micro((to - from) * i / marks + from - this.first), names + (width - names) * i / marks, 10);
        this.names = names;
    }

    at(event) {
        const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top + this.scroll, [from, to] = this.view, time = from + (x - this.names) / (box.width - this.names) * (to - from), slack = (to - from) / box.width;
        return { x, time, found: this.events.find(one => time >= one.start - slack && time <= one.start + Math.max(one.length, slack) + slack && y >= this.tops[one.lane] + one.level * LANE && y < this.tops[one.lane] + (one.level + 1) * LANE) };
    }

    zoom(time, factor) {
        const [from, to] = this.view;
        this.view = [time - (time - from) * factor, time + (to - time) * factor];
        this.draw();
    }

    listen() {
        let drag = null;
        const { canvas } = this, tip = by('tip');
        canvas.addEventListener('wheel', event => {
            if (!event.ctrlKey && !event.altKey && !event.metaKey)
                return;
            event.preventDefault();
            this.zoom(this.at(event).time, Math.exp(event.deltaY / 400));
        }, { passive: false });
        canvas.addEventListener('pointerdown', event => {
            drag = { x: event.clientX, y: event.clientY, view: this.view, scroll: this.scroll };
            canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener('pointerup', () => drag = null);
        canvas.addEventListener('pointermove', event => {
            if (drag) {
                const [from, to] = drag.view, by = (event.clientX - drag.x) / (canvas.clientWidth - this.names) * (to - from);
                this.view = [from - by, to - by];
                this.scroll = Math.max(0, Math.min(this.height - canvas.clientHeight, drag.scroll - event.clientY + drag.y));
                this.draw();
            }
            const { found } = this.at(event);
            this.chosen = found;
            tip.hidden = !found;
            if (found) {
                tip.replaceChildren(h('b', {}, found.name), h('div', {}, micro(found.length) + ', from ' + micro(found.start - this.first) + ' on ' + this.lanes[found.lane]));
                tip.style.left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8) + 'px';
                tip.style.top = event.clientY + 16 + 'px';
            }
        });
        canvas.addEventListener('pointerleave', () => tip.hidden = true);
        canvas.addEventListener('dblclick', () => this.all());
        canvas.addEventListener('keydown', event => {
            const [from, to] = this.view, side = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
            if (side)
                this.view = [from + side * (to - from) / 8, to + side * (to - from) / 8];
            else if (event.key === '+' || event.key === '=' || event.key === '-')
                this.zoom((from + to) / 2, event.key === '-' ? 1.4 : 1 / 1.4);
            else if (event.key === '0')
                this.all();
            else
                return;
            event.preventDefault();
            this.draw();
        });
    }

    all() {
        this.view = [this.first, this.last];
        this.draw();
    }
}

function statistics(events) {
    const sums = new Map();
    for (const [, name, , length] of events) {
        const one = sums.get(name) || { name, calls: 0, total: 0, most: 0 };
        one.calls++;
        one.total += length;
        one.most = Math.max(one.most, length);
        sums.set(name, one);
    }
    const all = [...sums.values()].sort((a, b) => b.total - a.total), total = all.reduce((sum, one) => sum + one.total, 0);
    return h('div', { class: 'table-page', tabIndex: 0, role: 'region', 'aria-label': 'Time by operation' }, h('table', { class: 'data' }, h('thead', {}, h('tr', {}, ['Operation', 'Calls', 'Total', 'Share', 'Each', 'Longest'].map((text, i) => h('th', { class: i ? 'number' : '' }, text)))),
        h('tbody', {}, all.slice(0, ROWS).map(one => h('tr', {}, h('td', {}, one.name), [String(one.calls), micro(one.total), (100 * one.total / (total || 1)).toFixed(1) + ' %', micro(one.total / one.calls), micro(one.most)].map(text => h('td', { class: 'number' }, text)))))));
}

export async function profilePage(content) {
    const runs = await data.ask('profile', 'runs');
    if (!runs.length) {
        content.append(emptyPage('There are no profiles in these logs yet.', 'tf.profiler.experimental.start(folder) and stop() write one.'));
        return {};
    }
    const run = runs.includes(state.text('profile')) ? state.text('profile') : runs[runs.length - 1], found = await data.ask('profile', 'data', { run }), line = new Timeline(found);
    const select = h('select', { 'aria-label': 'Profile', onchange: () => state.set('profile', select.value) }, runs.map(name => h('option', { value: name, selected: name === run }, name)));
    const button = (text, label, work) => h('button', { type: 'button', 'aria-label': label, onclick: work }, text), middle = () => (line.view[0] + line.view[1]) / 2;
    content.append(h('div', { class: 'bar' }, select, button('+', 'Zoom in', () => line.zoom(middle(), 1 / 1.6)), button('−', 'Zoom out', () => line.zoom(middle(), 1.6)), button('All', 'Show all', () => line.all()),
        h('span', { class: 'note' }, found.events.length + ' events in ' + micro(line.last - line.first) + (found.total > found.events.length ? ', of ' + found.total : '') + '. Drag moves; Ctrl and the wheel zoom.')),
    h('article', { class: 'card' }, h('h3', {}, 'Timeline'), line.element), h('h3', {}, 'Time by operation'), statistics(found.events));
    return { update: () => {}, restyle: () => line.draw() };
}
