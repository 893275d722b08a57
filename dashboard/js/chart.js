// Curves on a canvas: many at once, with zoom, pan, tooltips of all of them, smoothing and outliers. Long curves come as buckets: their extremes
// are drawn as a band, their mean as a line.
import { by, duration, exact, h, moment, say, short } from './dom.js';

const LEFT = 52, RIGHT = 10, TOP = 8, BELOW = 24, TIP_ROWS = 24;

// ---- ticks

export function ticks(low, high, count) {
    const span = high - low || 1, raw = span / count, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].find(size => size * power >= raw * .999) * power, out = [];
    for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9 && out.length < 50; value += step)
        out.push(Math.abs(value) < step * 1e-9 ? 0 : value);
    return out;
}

function logTicks(low, high) {
    const out = [];
    for (let power = Math.floor(low); power <= Math.ceil(high); power++)
        out.push(power);
    const every = Math.ceil(out.length / 6);
    return out.filter((power, i) => i % every === 0 && power >= low - 1e-9 && power <= high + 1e-9);
}

const timeTick = (value, span) => {
    const date = new Date(value), two = n => String(n).padStart(2, '0');
    return span < 864e5 ? two(date.getHours()) + ':' + two(date.getMinutes()) + (span < 6e5 ? ':' + two(date.getSeconds()) : '') : two(date.getMonth() + 1) + '/' + two(date.getDate());
};

// ---- series

// {x, y, smooth, low, high, first (value), …} of a curve as the server sends it.
export function prepare(curve, axis, weight) {
    const { rows, width, kind } = curve, count = rows.length / width, start = rows.length ? rows[kind ? 2 : 0] : 0;
    const made = { ...curve, count, x: new Float64Array(count), y: new Float64Array(count), smooth: new Float64Array(count), steps: new Float64Array(count), times: new Float64Array(count) };
    let last = 0, sum = 0;
    for (let i = 0; i < count; i++) {
        const at = i * width, step = kind ? (rows[at] + rows[at + 1]) / 2 : rows[at + 1], time = kind ? (rows[at + 2] + rows[at + 3]) / 2 : rows[at];
        made.steps[i] = kind ? rows[at] : step;
        made.times[i] = time;
        made.x[i] = axis === 'step' ? step : axis === 'relative' ? (time - start) / 3600 : time * 1000;
        const value = made.y[i] = kind ? rows[at + 8] : rows[at + 2];
        if (Number.isFinite(value)) {
            const keep = kind && weight ? weight ** rows[at + 9] : weight;
            last = last * keep + (1 - keep) * value;
            sum = sum * keep + (1 - keep);
            made.smooth[i] = weight ? last / sum : value;
        } else {
            made.smooth[i] = value;
        }
    }
    made.start = start;
    return made;
}

// ---- the chart

export class Chart {
    constructor(options) {
        this.options = { axis: 'step', weight: 0, log: false, outliers: true, label: '', onzoom: null, xlog: false, ...options };
        this.curves = [];
        this.series = [];
        this.view = null; // what was zoomed to: [x0, x1, y0, y1]
        this.canvas = h('canvas', { tabIndex: 0, role: 'img', 'aria-label': this.options.label });
        this.element = h('div', { class: 'plot' }, this.canvas);
        this.cursor = -1;
        new ResizeObserver(() => this.draw()).observe(this.element);
        this.listen();
    }

    set(curves, options = {}) {
        Object.assign(this.options, options);
        this.curves = curves;
        this.series = curves.map(curve => prepare(curve, this.options.axis, this.options.weight));
        this.box = this.fitBox();
        this.draw();
    }

    change(options) {
        this.set(this.curves, options);
    }

    scaleY(value) {
        return this.options.log ? (value > 0 ? Math.log10(value) : NaN) : value;
    }

    fitBox() {
        let x0 = Infinity, x1 = -Infinity;
        const all = [], weight = this.options.weight;
        for (const s of this.series) {
            for (let i = 0; i < s.count; i++) {
                if (s.x[i] < x0) x0 = s.x[i];
                if (s.x[i] > x1) x1 = s.x[i];
                const low = this.scaleY(s.kind && !this.options.outliers ? s.rows[i * s.width + 6] : weight && this.options.outliers ? s.smooth[i] : s.y[i]);
                const high = s.kind && !this.options.outliers ? this.scaleY(s.rows[i * s.width + 7]) : low;
                if (Number.isFinite(low)) all.push(low);
                if (Number.isFinite(high) && high !== low) all.push(high);
            }
        }
        let y0 = 0, y1 = 1;
        if (all.length) {
            if (this.options.outliers && all.length > 20) {
                const sorted = Float64Array.from(all).sort();
                y0 = sorted[Math.floor(.05 * (sorted.length - 1))];
                y1 = sorted[Math.ceil(.95 * (sorted.length - 1))];
                const span = y1 - y0;
                y0 = Math.max(sorted[0], y0 - span * .25);
                y1 = Math.min(sorted[sorted.length - 1], y1 + span * .25);
            } else {
                y0 = all.reduce((a, b) => Math.min(a, b));
                y1 = all.reduce((a, b) => Math.max(a, b));
            }
        }
        const pad = (y1 - y0) * .06 || Math.abs(y0) * .1 || .5;
        if (!(x0 <= x1))
            [x0, x1] = [0, 1];
        else if (x0 === x1)
            [x0, x1] = [x0 - .5, x1 + .5];
        return this.options.box || [x0, x1, y0 - pad, y1 + pad];
    }

    fit() {
        this.zoomTo(null);
    }

    zoomTo(view) {
        this.view = view;
        this.draw();
        this.options.onzoom?.(view);
    }

    get bounds() {
        return this.view || this.box || [0, 1, 0, 1];
    }

    place() {
        const width = this.element.clientWidth, height = this.element.clientHeight, [x0, x1, y0, y1] = this.bounds;
        const kx = (width - LEFT - RIGHT) / (x1 - x0), ky = (height - TOP - BELOW) / (y1 - y0);
        return { width, height, X: x => LEFT + (x - x0) * kx, Y: y => height - BELOW - (y - y0) * ky, invX: px => x0 + (px - LEFT) / kx, invY: py => y0 + (height - BELOW - py) / ky };
    }

    // ---- drawing

    axes(put, p) {
        const [x0, x1, y0, y1] = this.bounds, time = this.options.axis === 'wall';
        for (const value of this.options.log ? logTicks(y0, y1) : ticks(y0, y1, Math.max(2, p.height / 45)))
            put.y(p.Y(value), this.options.log ? short(10 ** value) : short(value));
        for (const value of ticks(x0, x1, Math.max(2, p.width / 70)))
            put.x(p.X(value), time ? timeTick(value, x1 - x0) : this.options.axis === 'relative' ? short(value) + 'h' : Math.abs(value) >= 1e4 && value % 1 === 0 ? short(value / 1e3) + 'k' : short(value));
    }

    draw() {
        const p = this.place(), scale = window.devicePixelRatio || 1, { canvas } = this;
        if (!p.width || !p.height)
            return;
        canvas.width = p.width * scale;
        canvas.height = p.height * scale;
        const g = canvas.getContext('2d'), css = getComputedStyle(this.element), style = name => css.getPropertyValue(name).trim();
        g.scale(scale, scale);
        g.font = '11px ' + css.fontFamily;
        g.lineWidth = 1;
        const fine = style('--fine'), soft = style('--soft');
        this.axes({ y: (y, text) => {
            g.strokeStyle = fine;
            g.beginPath();
            g.moveTo(LEFT, Math.round(y) + .5);
            g.lineTo(p.width - RIGHT, Math.round(y) + .5);
            g.stroke();
            g.fillStyle = soft;
            g.textAlign = 'right';
            g.textBaseline = 'middle';
            g.fillText(text, LEFT - 6, y);
        }, x: (x, text) => {
            g.strokeStyle = fine;
            g.beginPath();
            g.moveTo(Math.round(x) + .5, TOP);
            g.lineTo(Math.round(x) + .5, p.height - BELOW);
            g.stroke();
            g.fillStyle = soft;
            g.textAlign = 'center';
            g.textBaseline = 'top';
            g.fillText(text, Math.min(x, p.width - 18), p.height - BELOW + 7);
        } }, p);
        g.save();
        g.beginPath();
        g.rect(LEFT, TOP - 4, p.width - LEFT - RIGHT + 3, p.height - TOP - BELOW + 8);
        g.clip();
        for (const s of this.series)
            this.drawCurve(g, p, s);
        this.options.over?.(g, p, this);
        this.drawCursor(g, p, soft);
        g.restore();
        if (!this.series.some(s => s.count)) {
            g.fillStyle = soft;
            g.textAlign = 'center';
            g.fillText(this.options.nothing || 'no points', p.width / 2, p.height / 2);
        }
        this.drawn = true;
    }

    line(g, p, s, values) {
        let pen = false;
        g.beginPath();
        for (let i = 0; i < s.count; i++) {
            const y = p.Y(this.scaleY(values[i]));
            if (!Number.isFinite(y)) {
                pen = false;
                continue;
            }
            const x = p.X(s.x[i]);
            pen ? g.lineTo(x, y) : g.moveTo(x, y);
            pen = true;
        }
        g.stroke();
    }

    drawCurve(g, p, s) {
        const smooth = this.options.weight > 0;
        g.strokeStyle = g.fillStyle = s.color;
        g.lineJoin = 'round';
        if (s.kind) {
            g.globalAlpha = .28;
            for (let i = 0; i < s.count; i++) {
                const at = i * s.width, low = p.Y(this.scaleY(s.rows[at + 6])), high = p.Y(this.scaleY(s.rows[at + 7]));
                const left = this.options.axis === 'step' ? p.X(s.rows[at]) : p.X(s.x[i]) - .5, right = this.options.axis === 'step' ? p.X(s.rows[at + 1]) : left + 1;
                if (Number.isFinite(low + high))
                    g.fillRect(left, high, Math.max(1, right - left), Math.max(1, low - high));
            }
        }
        g.lineWidth = 1.6;
        g.globalAlpha = smooth ? .25 : 1;
        if (!s.kind || !smooth)
            this.line(g, p, s, s.y);
        g.globalAlpha = 1;
        if (smooth)
            this.line(g, p, s, s.smooth);
        for (let i = 0; i < s.count; i++) { // points of their own, and what is no number
            const alone = s.count <= 40 || s.count === 1 || (!(Number.isFinite(s.y[i - 1])) && !(Number.isFinite(s.y[i + 1])));
            if (alone && Number.isFinite(s.y[i]) && s.count <= 200) {
                g.globalAlpha = smooth ? .4 : 1;
                g.beginPath();
                g.arc(p.X(s.x[i]), p.Y(this.scaleY(s.y[i])), s.count === 1 ? 3 : 2, 0, 7);
                g.fill();
            } else if (!s.kind && !Number.isFinite(s.y[i])) {
                g.globalAlpha = 1;
                const x = p.X(s.x[i]), y = p.height - BELOW - 5;
                g.beginPath();
                g.moveTo(x, y - 4);
                g.lineTo(x + 4, y + 3);
                g.lineTo(x - 4, y + 3);
                g.fill();
            }
        }
        g.globalAlpha = 1;
    }

    drawCursor(g, p, soft) {
        if (this.drag && this.drag.zoom) {
            const { x, y, px, py } = this.drag, wide = Math.abs(x - px) > 8, high = Math.abs(y - py) > 8;
            g.fillStyle = soft;
            g.globalAlpha = .18;
            g.fillRect(wide ? Math.min(x, px) : LEFT, high ? Math.min(y, py) : TOP, wide ? Math.abs(x - px) : p.width, high ? Math.abs(y - py) : p.height);
            g.globalAlpha = 1;
        }
        if (this.hover === undefined)
            return;
        g.strokeStyle = soft;
        g.setLineDash([3, 3]);
        g.lineWidth = 1;
        g.beginPath();
        g.moveTo(p.X(this.hover), TOP);
        g.lineTo(p.X(this.hover), p.height - BELOW);
        g.stroke();
        g.setLineDash([]);
        for (const { s, i } of this.near || []) {
            g.fillStyle = s.color;
            g.beginPath();
            g.arc(p.X(s.x[i]), p.Y(this.scaleY(s.smooth[i])), 3.5, 0, 7);
            g.fill();
        }
    }

    // ---- looking

    nearest(s, x) {
        let low = 0, high = s.count - 1;
        if (high < 0)
            return -1;
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            s.x[middle] < x ? low = middle : high = middle;
        }
        return Math.abs(s.x[low] - x) <= Math.abs(s.x[high] - x) ? low : high;
    }

    inspect(x, y, px, py) {
        const p = this.place(), found = [];
        for (const s of this.series) {
            const i = this.nearest(s, x);
            if (i >= 0)
                found.push({ s, i, far: Math.abs(p.X(s.x[i]) - p.X(x)), away: Math.abs(p.Y(this.scaleY(s.smooth[i])) - py) });
        }
        const closest = found.reduce((a, b) => b.far < a ? b.far : a, Infinity);
        this.near = found.filter(item => item.far <= closest + 12);
        this.hover = this.near.length ? this.near.reduce((a, b) => b.far < a.far ? b : a).s.x[this.near.reduce((a, b) => b.far < a.far ? b : a).i] : x;
        this.near.sort((a, b) => (Number.isNaN(a.away) ? 1e9 : a.away) - (Number.isNaN(b.away) ? 1e9 : b.away));
        this.draw();
        this.tell(px, py);
    }

    tell(px, py) {
        const tip = by('tip'), box = this.canvas.getBoundingClientRect(), smooth = this.options.weight > 0, long = this.near.some(({ s }) => s.kind);
        const cell = (text, number = true) => h('td', { class: number ? 'number' : '' }, text);
        const heads = this.options.heads || ['', 'Run', ...smooth ? ['Smoothed'] : [], long ? 'Mean' : 'Value', ...long ? ['Lowest', 'Highest'] : [], 'Step', 'Time', 'Relative'];
        const row = ({ s, i }, first) => {
            const dot = h('span', { class: 'dot' });
            dot.style.background = s.color;
            if (this.options.cells)
                return h('tr', { class: first ? 'near' : '' }, h('td', {}, dot), ...this.options.cells(s, i).map((text, k) => cell(text, k > 0)));
            const at = i * s.width, steps = s.kind ? s.rows[at] === s.rows[at + 1] ? String(s.rows[at]) : s.rows[at] + '–' + s.rows[at + 1] : String(s.steps[i]);
            return h('tr', { class: first ? 'near' : '' }, h('td', {}, dot), cell(s.name, false), ...smooth ? [cell(short(s.smooth[i], 6))] : [], cell(exact(s.y[i])),
                     ...long ? s.kind ? [cell(exact(s.rows[at + 6])), cell(exact(s.rows[at + 7]))] : [cell(''), cell('')] : [], cell(steps), cell(moment(s.times[i])), cell(duration(s.times[i] - s.start)));
        };
        tip.replaceChildren(h('table', {}, h('thead', {}, h('tr', {}, heads.map((text, i) => h('th', { class: i > 1 ? 'number' : '' }, text)))),
                                   h('tbody', {}, this.near.slice(0, TIP_ROWS).map((item, i) => row(item, i === 0)))),
                            this.near.length > TIP_ROWS ? h('div', { class: 'note' }, 'and ' + (this.near.length - TIP_ROWS) + ' more') : '');
        tip.hidden = !this.near.length;
        const width = tip.offsetWidth, height = tip.offsetHeight;
        let x = box.left + px + 16, y = box.bottom + 6;
        if (y + height > innerHeight)
            y = Math.max(4, box.top - height - 6);
        x = Math.max(4, Math.min(x, innerWidth - width - 8));
        tip.style.left = x + 'px';
        tip.style.top = y + 'px';
    }

    leave() {
        this.hover = undefined;
        this.near = [];
        by('tip').hidden = true;
        this.draw();
    }

    // ---- hands

    zoomAround(x, y, factor, both = true) {
        const [x0, x1, y0, y1] = this.bounds;
        this.zoomTo([x - (x - x0) * factor, x + (x1 - x) * factor, both ? y - (y - y0) * factor : y0, both ? y + (y1 - y) * factor : y1]);
    }

    pan(dx, dy) {
        const [x0, x1, y0, y1] = this.bounds;
        this.zoomTo([x0 + dx, x1 + dx, y0 + dy, y1 + dy]);
    }

    listen() {
        const { canvas } = this, at = event => {
            const box = canvas.getBoundingClientRect();
            return [event.clientX - box.left, event.clientY - box.top];
        };
        canvas.addEventListener('pointerdown', event => {
            if (event.button || event.pointerType === 'touch')
                return;
            const [px, py] = at(event);
            this.drag = { x: px, y: py, px, py, zoom: !event.shiftKey, from: this.bounds };
            canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener('pointermove', event => {
            const [px, py] = at(event), p = this.place();
            if (this.drag) {
                Object.assign(this.drag, { px, py });
                if (!this.drag.zoom) {
                    const [x0, x1, y0, y1] = this.drag.from, dx = (px - this.drag.x) / (p.width - LEFT - RIGHT) * (x1 - x0), dy = (py - this.drag.y) / (p.height - TOP - BELOW) * (y1 - y0);
                    this.view = [x0 - dx, x1 - dx, y0 + dy, y1 + dy];
                }
            }
            this.inspect(p.invX(px), p.invY(py), px, py);
        });
        canvas.addEventListener('pointerup', event => {
            const { drag } = this, [px, py] = at(event), p = this.place();
            this.drag = null;
            if (!drag)
                return;
            if (!drag.zoom) {
                this.zoomTo(this.view);
            } else if (Math.hypot(px - drag.x, py - drag.y) > 8) {
                const wide = Math.abs(px - drag.x) > 8, high = Math.abs(py - drag.y) > 8, [x0, x1, y0, y1] = this.bounds;
                this.zoomTo([wide ? p.invX(Math.min(px, drag.x)) : x0, wide ? p.invX(Math.max(px, drag.x)) : x1, high ? p.invY(Math.max(py, drag.y)) : y0, high ? p.invY(Math.min(py, drag.y)) : y1]);
            }
        });
        canvas.addEventListener('pointerleave', () => this.leave());
        canvas.addEventListener('blur', () => this.leave());
        canvas.addEventListener('dblclick', () => this.fit());
        canvas.addEventListener('wheel', event => {
            if (!event.ctrlKey && !event.altKey && !event.metaKey)
                return;
            event.preventDefault();
            const [px, py] = at(event), p = this.place();
            this.zoomAround(p.invX(px), p.invY(py), event.deltaY > 0 ? 1.2 : 1 / 1.2);
        }, { passive: false });
        canvas.addEventListener('keydown', event => this.key(event));
    }

    key(event) {
        const [x0, x1, y0, y1] = this.bounds, sides = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
        if (event.key === '+' || event.key === '=')
            this.zoomAround((x0 + x1) / 2, (y0 + y1) / 2, 1 / 1.3);
        else if (event.key === '-')
            this.zoomAround((x0 + x1) / 2, (y0 + y1) / 2, 1.3);
        else if (event.key === '0' || event.key === 'Escape')
            this.fit();
        else if (sides && event.shiftKey)
            this.pan(sides[0] * (x1 - x0) / 10, sides[1] * (y1 - y0) / 10);
        else if (sides && sides[0])
            this.walk(sides[0]);
        else
            return;
        event.preventDefault();
    }

    // From point to point by keys, told to those who listen.
    walk(side) {
        const s = this.series.find(one => one.count);
        if (!s)
            return;
        this.cursor = Math.max(0, Math.min(s.count - 1, (this.cursor < 0 ? side > 0 ? -1 : s.count : this.cursor) + side));
        const p = this.place(), x = s.x[this.cursor], y = s.smooth[this.cursor];
        this.inspect(x, y, p.X(x), p.Y(this.scaleY(y)));
        say(this.near.slice(0, 5).map(({ s: one, i }) => one.name + ': ' + exact(one.y[i]) + ' at step ' + one.steps[i]).join('; '));
    }

    // ---- as a drawing

    toSVG(title) {
        const p = this.place(), escape = text => String(text).replace(/[&<>"]/g, c => '&#' + c.charCodeAt(0) + ';'), out = [];
        out.push('<svg xmlns="http://www.w3.org/2000/svg" width="' + p.width + '" height="' + (p.height + 20) + '" font-family="sans-serif" font-size="11"><title>' + escape(title) +
                 '</title><rect width="100%" height="100%" fill="#fff"/><g transform="translate(0,20)"><clipPath id="c"><rect x="' + LEFT + '" y="' + TOP + '" width="' + (p.width - LEFT - RIGHT) + '" height="' + (p.height - TOP - BELOW) + '"/></clipPath>');
        this.axes({ y: (y, text) => out.push('<line x1="' + LEFT + '" x2="' + (p.width - RIGHT) + '" y1="' + y + '" y2="' + y + '" stroke="#e4e4e4"/><text x="' + (LEFT - 6) + '" y="' + (y + 4) + '" text-anchor="end" fill="#555">' + escape(text) + '</text>'),
                    x: (x, text) => out.push('<line y1="' + TOP + '" y2="' + (p.height - BELOW) + '" x1="' + x + '" x2="' + x + '" stroke="#e4e4e4"/><text x="' + x + '" y="' + (p.height - 8) + '" text-anchor="middle" fill="#555">' + escape(text) + '</text>') }, p);
        for (const s of this.series) {
            const path = values => {
                let text = '', pen = false;
                for (let i = 0; i < s.count; i++) {
                    const y = p.Y(this.scaleY(values[i]));
                    if (Number.isFinite(y))
                        text += (pen ? 'L' : 'M') + p.X(s.x[i]).toFixed(2) + ' ' + y.toFixed(2);
                    pen = Number.isFinite(y);
                }
                return text;
            };
            const line = (values, opacity) => out.push('<path clip-path="url(#c)" fill="none" stroke="' + escape(s.color) + '" stroke-width="1.6" opacity="' + opacity + '" d="' + path(values) + '"><title>' + escape(s.name) + '</title></path>');
            line(s.y, this.options.weight ? .25 : 1);
            if (this.options.weight)
                line(s.smooth, 1);
        }
        out.push('</g><text x="8" y="15" font-size="13" font-weight="bold" fill="#222">' + escape(title) + '</text></svg>');
        return out.join('\n');
    }
}
