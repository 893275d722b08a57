// Profiles: what ran when, on which thread, and how much time each operation took.
import * as data from './data.js';
import { emptyPage, by, h, short, svg } from './dom.js';
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

const table = (label, heads, rows) => h('div', { class: 'table-page', tabIndex: 0, role: 'region', 'aria-label': label }, h('table', { class: 'data' },
    h('thead', {}, h('tr', {}, heads.map((text, i) => h('th', { class: i ? 'number' : '' }, text)))), h('tbody', {}, rows.map(row => h('tr', {}, row.map((text, i) => h('td', { class: i ? 'number' : '' }, text)))))));

// What events take themselves, without those that run inside of them on their lane.
export function ownTimes(events) {
    const own = new Map(events.map(event => [event, event[3]])), open = [];
    for (const event of [...events].sort((a, b) => a[0] - b[0] || a[2] - b[2] || b[3] - a[3])) {
        while (open.length && (open.at(-1)[0] !== event[0] || open.at(-1)[2] + open.at(-1)[3] < event[2] + event[3] - 1e-9))
            open.pop();
        if (open.length)
            own.set(open.at(-1), own.get(open.at(-1)) - event[3]);
        open.push(event);
    }
    return own;
}

// Steps and iterators have tables of their own.
function statistics(found) {
    const sums = new Map(), steps = new Set(found.steps.map(step => step[1])), own = ownTimes(found.events);
    for (const event of found.events) {
        const [, name, , length] = event;
        if (steps.has(name) || isInput(name))
            continue;
        const one = sums.get(name) || { name, calls: 0, total: 0, own: 0, most: 0 };
        one.calls++;
        one.total += length;
        one.own += Math.max(0, own.get(event));
        one.most = Math.max(one.most, length);
        sums.set(name, one);
    }
    const all = [...sums.values()].sort((a, b) => b.own - a.own), whole = all.reduce((sum, one) => sum + one.own, 0);
    return table('Time by operation', ['Operation', 'Calls', 'Total', 'Own', 'Share', 'Each', 'Longest'],
        all.slice(0, ROWS).map(one => [one.name, String(one.calls), micro(one.total), micro(one.own), (100 * one.own / (whole || 1)).toFixed(1) + ' %', micro(one.total / one.calls), micro(one.most)]));
}

// ---- the input pipeline

const isInput = name => name.startsWith('Iterator::');

// How much of each step the thread that runs it waited for input: iterators inside of iterators count once.
export function waiting(found) {
    const inputs = found.events.filter(event => isInput(event[1])).sort((a, b) => a[2] - b[2]);
    return found.steps.map(([lane, name, number, start, length]) => {
        let input = 0, until = start;
        for (const [at, , from, long] of inputs) {
            if (from >= start + length)
                break;
            if (at !== lane || from < until)
                continue;
            input += Math.min(from + long, start + length) - from;
            until = from + long;
        }
        return { name: name + ' ' + number, length, input };
    });
}

function inputPipeline(found) {
    const sums = new Map(), steps = waiting(found), whole = steps.reduce((sum, step) => sum + step.length, 0), input = steps.reduce((sum, step) => sum + step.input, 0);
    for (const [lane, name, , length] of found.events.filter(event => isInput(event[1]))) {
        const one = sums.get(name) || { calls: 0, total: 0, most: 0, lanes: new Set() };
        one.calls++;
        one.total += length;
        one.most = Math.max(one.most, length);
        one.lanes.add(lane);
        sums.set(name, one);
    }
    if (!sums.size && !steps.length)
        return [];
    const percent = whole ? 100 * input / whole : 0;
    return [h('h3', {}, 'Input pipeline'), steps.length ? h('p', {}, steps.length + (steps.length === 1 ? ' step takes ' : ' steps take ') + micro(whole) + ', of which ' + micro(input) + ' (' + percent.toFixed(1) + ' %) are spent waiting for input. ',
        percent > 20 ? 'The input pipeline is what slows it down: prefetch, parallel calls of map, or a cache help.' : 'The input pipeline keeps up.') : '',
        sums.size ? table('Time by iterator', ['Iterator', 'Elements', 'Total with its inputs', 'Each', 'Longest', 'Threads'],
            [...sums].sort((a, b) => b[1].total - a[1].total).slice(0, ROWS).map(([name, one]) => [name, String(one.calls), micro(one.total), micro(one.total / one.calls), micro(one.most), String(one.lanes.size)])) : '',
        steps.length ? table('Steps', ['Step', 'Time', 'Waiting for input', 'Share'], steps.slice(0, ROWS).map(step => [step.name, micro(step.length), micro(step.input), (100 * step.input / (step.length || 1)).toFixed(1) + ' %'])) : ''];
}

// ---- memory

const bytes = value => value >= 2 ** 30 ? short(value / 2 ** 30) + ' GiB' : value >= 2 ** 20 ? short(value / 2 ** 20) + ' MiB' : short(value / 1024) + ' KiB';

function memory(found) {
    if (!found.memory.length)
        return [];
    const rows = [...found.memory].sort((a, b) => a[0] - b[0]), most = Math.max(...rows.map(row => row[1]), ...rows.map(row => row[2])), first = rows[0][0], last = Math.max(rows[rows.length - 1][0], first + 1);
    const X = time => 1000 * (time - first) / (last - first), Y = value => 150 - 140 * value / (most || 1), line = rows.map(([time, value], i) => (i ? 'H' + X(time) + 'V' : 'M' + X(time) + ',') + Y(value)).join('');
    return [h('h3', {}, 'Memory'), h('article', { class: 'card' }, h('p', {}, 'From ' + bytes(rows[0][1]) + ' to ' + bytes(rows[rows.length - 1][1]) + ', at most ' + bytes(most) + ', in ' + micro(last - first) + '.'),
        svg('svg', { viewBox: '0 0 1000 160', preserveAspectRatio: 'none', class: 'memory', role: 'img', 'aria-label': 'Memory over time, at most ' + bytes(most) },
            svg('path', { d: line + 'V150H0Z', class: 'area' }), svg('path', { d: line, class: 'line' })))];
}

// Lanes without events are left out.
function withoutEmpty(found) {
    const used = found.lanes.map((name, lane) => lane).filter(lane => found.events.some(event => event[0] === lane)), place = new Map(used.map((lane, i) => [lane, i]));
    const move = row => [place.get(row[0]), ...row.slice(1)];
    return { ...found, lanes: used.map(lane => found.lanes[lane]), events: found.events.map(move), steps: found.steps.filter(step => place.has(step[0])).map(move) };
}

export async function profilePage(content) {
    const runs = await data.ask('profile', 'runs');
    if (!runs.length) {
        content.append(emptyPage('There are no profiles in these logs yet.', 'tf.profiler.experimental.start(folder) and stop() write one.'));
        return {};
    }
    const run = runs.includes(state.text('profile')) ? state.text('profile') : runs[runs.length - 1], found = withoutEmpty(await data.ask('profile', 'data', { run })), line = new Timeline(found);
    const select = h('select', { 'aria-label': 'Profile', onchange: () => state.set('profile', select.value) }, runs.map(name => h('option', { value: name, selected: name === run }, name)));
    const button = (text, label, work) => h('button', { type: 'button', 'aria-label': label, onclick: work }, text), middle = () => (line.view[0] + line.view[1]) / 2;
    content.append(h('div', { class: 'bar' }, select, button('+', 'Zoom in', () => line.zoom(middle(), 1 / 1.6)), button('−', 'Zoom out', () => line.zoom(middle(), 1.6)), button('All', 'Show all', () => line.all()),
        h('span', { class: 'note' }, found.events.length + ' events in ' + micro(line.last - line.first) + (found.total > found.events.length ? ', of ' + found.total : '') + '. Drag moves; Ctrl and the wheel zoom.')),
    h('article', { class: 'card' }, h('h3', {}, 'Timeline'), line.element), h('h3', {}, 'Time by operation'), statistics(found), ...inputPipeline(found), ...memory(found));
    return { update: () => {}, restyle: () => line.draw() };
}
