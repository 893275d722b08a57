// Histograms as ridges over the steps, or laid over each other; distributions as bands of quantiles.
import * as data from './data.js';
import { emptyPage, h, segments, short, svg, toggle } from './dom.js';
import { ticks } from './chart.js';
import { group, grouped, tagBar, visibleTags, watch } from './scalars.js';
import * as state from './state.js';

const WIDTH = 360, HEIGHT = 240, BINS = 60, RIDGES = 40;

// Counts of equal bins between two values; a bin's count is spread over what it covers.
export function rebin(bins, low, high, count) {
    const out = new Float64Array(count), width = (high - low) / count;
    for (const [left, right, n] of bins) {
        if (!n)
            continue;
        const from = Math.max(0, Math.min(count - 1, Math.floor((left - low) / width))), to = Math.max(0, Math.min(count - 1, Math.floor((right - low) / width)));
        if (right <= left || from === to) {
            out[from] += n;
            continue;
        }
        for (let i = from; i <= to; i++) {
            const part = Math.min(right, low + (i + 1) * width) - Math.max(left, low + i * width);
            out[i] += n * Math.max(0, part) / (right - left);
        }
    }
    return out;
}

function evenly(list, most) {
    return list.length <= most ? list : Array.from({ length: most }, (_, i) => list[Math.round(i * (list.length - 1) / (most - 1))]);
}

export class HistogramCard {
    constructor(tag, run, plugin = 'histograms') {
        Object.assign(this, { tag, run, plugin, tags: [tag], name: plugin + '\0' + data.index.runs[run] + '\0' + tag, shown: false });
        const dot = h('span', { class: 'dot' });
        dot.style.background = data.color(run);
        this.note = h('div', { class: 'when' });
        this.plot = h('div');
        this.element = h('article', { class: 'card' + (state.list('wide').includes(this.name) ? ' wide' : ''), 'data-tag': tag }, h('div', { class: 'head' }, h('h3', {}, data.entry(tag, run)?.title || tag, h('span', { class: 'run' }, dot, data.index.runs[run])),
            toggle('Full width', 'wide', state.list('wide').includes(this.name), on => {
                state.flip('wide', this.name, on, true);
                this.element.classList.toggle('wide', on);
            })), this.plot, this.note);
    }

    async update() {
        const found = data.entry(this.tag, this.run);
        if (!this.shown || !found || found.generation === this.generation)
            return;
        this.generation = found.generation;
        this.points = (await data.ask(this.plugin, this.plugin, { run: data.index.runs[this.run], tag: this.tag })).filter(point => point[2].length);
        this.draw();
    }

    draw() {
        if (!this.points)
            return;
        const drawing = svg('svg', { viewBox: '0 0 ' + WIDTH + ' ' + HEIGHT, role: 'img', 'aria-label': this.plugin + ' of ' + this.tag + ' at ' + this.points.length + ' steps', width: '100%' });
        this.plot.replaceChildren(drawing);
        if (!this.points.length)
            this.note.textContent = 'nothing to draw';
        else
            this.plugin === 'histograms' ? this.ridges(drawing) : this.bands(drawing);
    }

    ridges(drawing) {
        const shown = evenly(this.points, RIDGES), overlay = state.text('ridges', 'offset') === 'overlay', color = data.color(this.run);
        let low = Infinity, high = -Infinity, most = 0;
        for (const [, , bins] of shown)
            for (const [left, right, n] of bins)
                if (n) [low, high] = [Math.min(low, left), Math.max(high, right)];
        if (!(low < high))
            [low, high] = low === high ? [low - .5, high + .5] : [0, 1];
        const curves = shown.map(([, , bins]) => rebin(bins, low, high, BINS));
        for (const curve of curves)
            most = Math.max(most, ...curve);
        const left = 14, right = WIDTH - 46, rise = overlay ? HEIGHT - 60 : 70, top = overlay ? HEIGHT - 30 : 84, bottom = HEIGHT - 30;
        const X = i => left + (i + .5) / BINS * (right - left), base = k => overlay || shown.length === 1 ? bottom : top + k / (shown.length - 1) * (bottom - top);
        for (const value of ticks(low, high, 5)) {
            const x = left + (value - low) / (high - low) * (right - left);
            drawing.append(svg('line', { x1: x, x2: x, y1: 10, y2: bottom, class: 'grid' }), svg('text', { x, y: HEIGHT - 12, class: 'axis', 'text-anchor': 'middle' }, short(value)));
        }
        const every = Math.ceil(shown.length / 6);
        shown.forEach(([, step], k) => {
            const y = base(k), line = Array.from(curves[k], (n, i) => X(i).toFixed(1) + ',' + (y - n / (most || 1) * rise).toFixed(1));
            const made = svg('path', { d: 'M' + left + ',' + y + 'L' + line.join('L') + 'L' + right + ',' + y + (overlay ? '' : 'Z'), fill: overlay ? 'none' : color, 'fill-opacity': .25 + .5 * (k + 1) / shown.length, stroke: overlay ? color : 'var(--card)',
                                       'stroke-opacity': overlay ? .25 + .75 * (k + 1) / shown.length : 1, 'stroke-width': 1 }, svg('title', {}, 'step ' + step));
            made.addEventListener('pointerenter', () => {
                this.tell(this.points.find(point => point[1] === step), most);
                made.setAttribute('stroke', 'var(--text)');
            });
            made.addEventListener('pointerleave', () => made.setAttribute('stroke', overlay ? color : 'var(--card)'));
            drawing.append(made);
            if (!overlay && (k % every === 0 || k === shown.length - 1))
                drawing.append(svg('text', { x: right + 6, y: y + 3, class: 'axis' }, String(step)));
        });
        this.tell(this.points[this.points.length - 1]);
    }

    tell([, step, bins]) {
        const count = bins.reduce((sum, bin) => sum + bin[2], 0), filled = bins.filter(bin => bin[2]);
        this.note.textContent = 'step ' + step + ': ' + short(count, 8) + ' values' + (filled.length ? ' from ' + short(filled[0][0]) + ' to ' + short(filled[filled.length - 1][1]) : '');
    }

    bands(drawing) {
        const color = data.color(this.run), left = 46, right = WIDTH - 10, top = 10, bottom = HEIGHT - 26, shown = evenly(this.points, 400);
        let low = Infinity, high = -Infinity;
        for (const [, , values] of shown)
            [low, high] = [Math.min(low, values[0][1]), Math.max(high, values[values.length - 1][1])];
        if (!(low < high))
            [low, high] = [low - .5, high + .5];
        const first = shown[0][1], last = shown[shown.length - 1][1], X = step => last === first ? (left + right) / 2 : left + (step - first) / (last - first) * (right - left), Y = value => bottom - (value - low) / (high - low) * (bottom - top);
        for (const value of ticks(low, high, 5))
            drawing.append(svg('line', { x1: left, x2: right, y1: Y(value), y2: Y(value), class: 'grid' }), svg('text', { x: left - 5, y: Y(value) + 4, class: 'axis', 'text-anchor': 'end' }, short(value)));
        for (const value of last > first ? ticks(first, last, 5) : [first])
            drawing.append(svg('text', { x: X(value), y: HEIGHT - 8, class: 'axis', 'text-anchor': 'middle' }, short(value)));
        for (let k = 0; k < 4; k++) {
            const side = i => shown.map(([, step, values]) => X(step).toFixed(1) + ',' + Y(values[i][1]).toFixed(1));
            const upper = side(8 - k), lower = side(k).reverse();
            if (shown.length === 1)
                drawing.append(svg('rect', { x: X(first) - 14 + 3 * k, width: 28 - 6 * k, y: Y(shown[0][2][8 - k][1]), height: Math.max(1, Y(shown[0][2][k][1]) - Y(shown[0][2][8 - k][1])), fill: color, 'fill-opacity': .2 }));
            else
                drawing.append(svg('path', { d: 'M' + [...upper, ...lower].join('L') + 'Z', fill: color, 'fill-opacity': .2 }));
        }
        drawing.append(svg('path', { d: 'M' + shown.map(([, step, values]) => X(step).toFixed(1) + ',' + Y(values[4][1]).toFixed(1)).join('L'), fill: 'none', stroke: color, 'stroke-width': 2 }));
        const [, step, values] = this.points[this.points.length - 1];
        this.note.textContent = 'step ' + step + ': median ' + short(values[4][1]) + ', from ' + short(values[0][1]) + ' to ' + short(values[8][1]);
    }
}

function page(plugin) {
    return content => {
        const cards = [], tags = visibleTags('histograms').flatMap(([tag, runs]) => runs.map(run => [tag, run]));
        content.append(tagBar(tags.length + (tags.length === 1 ? ' card' : ' cards'), ...plugin === 'histograms' ? [segments('Mode', [['offset', 'Offset'], ['overlay', 'Overlay']], state.text('ridges', 'offset'), mode => {
            state.set('ridges', mode, true);
            cards.forEach(card => card.draw());
        })] : []));
        for (const [name, list] of grouped(tags))
            content.append(group(name, list, ([tag, run]) => {
                const card = new HistogramCard(tag, run, plugin);
                cards.push(card);
                return watch(card);
            }));
        if (!tags.length)
            content.append(emptyPage('There are no histograms in these logs yet.', "tf.summary.histogram('weights', values, step=step) writes some."));
        return { update: () => cards.forEach(card => card.update()), restyle: () => cards.forEach(card => card.draw()) };
    };
}

export const histogramsPage = page('histograms');
export const distributionsPage = page('distributions');
