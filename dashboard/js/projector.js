// Embeddings in two or three dimensions: principal components at once, t-SNE by a worker that shows how it goes.
import * as data from './data.js';
import { by, emptyPage, h, segments } from './dom.js';
import * as state from './state.js';

const MOST = 10000;

class Cloud {
    constructor(labels, colors) {
        Object.assign(this, { labels, colors, points: [], angle: [.5, .35], zoom: 1 });
        this.canvas = h('canvas', { tabIndex: 0, role: 'img', 'aria-label': labels.length + ' points of the embedding. Arrow keys turn them, plus and minus zoom.' });
        this.element = h('div', { class: 'plot' }, this.canvas);
        this.element.style.height = 'max(380px, calc(100vh - 230px))';
        new ResizeObserver(() => this.draw()).observe(this.element);
        this.listen();
    }

    set(points, dims) {
        let size = 0;
        const center = [0, 1, 2].map(k => points.reduce((sum, point) => sum + (point[k] || 0), 0) / (points.length || 1));
        this.points = points.map(point => [0, 1, 2].map(k => k < dims ? (point[k] || 0) - center[k] : 0));
        for (const point of this.points)
            size = Math.max(size, Math.hypot(...point));
        this.size = size || 1;
        this.flat = dims < 3;
        this.draw();
    }

    project([x, y, z]) {
        if (this.flat)
            return [x, y, 0];
        const [a, b] = this.angle, x1 = x * Math.cos(a) + z * Math.sin(a), z1 = z * Math.cos(a) - x * Math.sin(a);
        return [x1, y * Math.cos(b) - z1 * Math.sin(b), z1 * Math.cos(b) + y * Math.sin(b)];
    }

    draw() {
        const width = this.element.clientWidth, height = this.element.clientHeight, scale = devicePixelRatio || 1, g = this.canvas.getContext('2d'), css = getComputedStyle(this.element);
        if (!width)
            return;
        this.canvas.width = width * scale;
        this.canvas.height = height * scale;
        g.scale(scale, scale);
        g.font = '11px ' + css.fontFamily;
        const k = Math.min(width, height) / 2.3 / this.size * this.zoom, text = css.getPropertyValue('--text'), few = this.points.length <= 60, match = state.text('find').toLowerCase();
        this.places = this.points.map((point, i) => {
            const [x, y, z] = this.project(point);
            return [width / 2 + x * k, height / 2 - y * k, z, i];
        });
        for (const [x, y, z, i] of [...this.places].sort((a, b) => a[2] - b[2])) {
            const found = match && this.labels[i].toLowerCase().includes(match), chosen = i === this.chosen;
            g.globalAlpha = match && !found ? .15 : Math.max(.35, .8 + .2 * z / this.size);
            g.fillStyle = this.colors[i];
            g.beginPath();
            g.arc(x, y, chosen || found ? 6 : 4, 0, 7);
            g.fill();
            if (few || chosen || found) {
                g.fillStyle = text;
                g.fillText(this.labels[i].slice(0, 40), x + 7, y + 4);
            }
        }
        g.globalAlpha = 1;
    }

    listen() {
        let from = null;
        this.canvas.addEventListener('pointerdown', event => {
            from = [event.clientX, event.clientY, ...this.angle];
            this.canvas.setPointerCapture(event.pointerId);
        });
        this.canvas.addEventListener('pointerup', () => from = null);
        this.canvas.addEventListener('pointermove', event => {
            const box = this.canvas.getBoundingClientRect(), [x, y] = [event.clientX - box.left, event.clientY - box.top], tip = by('tip');
            if (from)
                this.angle = [from[2] + (event.clientX - from[0]) / 150, from[3] + (event.clientY - from[1]) / 150];
            const near = (this.places || []).reduce((best, place) => {
                const far = Math.hypot(place[0] - x, place[1] - y);
                return far < 12 && far < (best?.[0] ?? 99) ? [far, place[3]] : best;
            }, null);
            this.chosen = near?.[1];
            tip.hidden = !near;
            if (near) {
                tip.replaceChildren(this.labels[near[1]]);
                tip.style.left = event.clientX + 14 + 'px';
                tip.style.top = event.clientY + 14 + 'px';
            }
            this.draw();
        });
        this.canvas.addEventListener('pointerleave', () => by('tip').hidden = true);
        this.canvas.addEventListener('wheel', event => {
            event.preventDefault();
            this.zoom *= Math.exp(-event.deltaY / 500);
            this.draw();
        }, { passive: false });
        this.canvas.addEventListener('keydown', event => {
            const turn = { ArrowLeft: [-.15, 0], ArrowRight: [.15, 0], ArrowUp: [0, -.15], ArrowDown: [0, .15] }[event.key];
            if (turn)
                this.angle = this.angle.map((angle, i) => angle + turn[i]);
            else if (event.key === '+' || event.key === '=' || event.key === '-')
                this.zoom *= event.key === '-' ? 1 / 1.2 : 1.2;
            else
                return;
            event.preventDefault();
            this.draw();
        });
    }
}

function readLabels(text, count) {
    const lines = text.replace(/\n$/, '').split('\n'), table = lines[0]?.includes('\t'), rows = (table ? lines.slice(1) : lines).map(line => line.split('\t'));
    const names = table ? lines[0].split('\t') : ['label'];
    return { names, rows: Array.from({ length: count }, (_, i) => rows[i] || ['point ' + i]) };
}

export async function projectorPage(content) {
    const runs = await data.ask('projector', 'runs'), all = [];
    for (const run of runs)
        all.push(...(await data.ask('projector', 'info', { run })).embeddings.map(one => ({ run, ...one, title: run + ': ' + one.tensorName })));
    if (!all.length) {
        content.append(emptyPage('There are no embeddings in these logs.', 'A projector_config.pbtxt beside the event files names them.'));
        return {};
    }
    const chosen = all.find(one => one.title === state.text('embedding')) || all[0], [rows, columns] = chosen.tensorShape || [0, 0], count = Math.min(rows, MOST);
    const numbers = new Float32Array(await data.askBytes('projector', 'tensor', { run: chosen.run, name: chosen.tensorName, num_rows: count }));
    const meta = chosen.metadataPath ? await data.askText('projector', 'metadata', { run: chosen.run, name: chosen.tensorName, num_rows: count }).catch(() => '') : '', { names, rows: cells } = readLabels(meta, count);
    const shown = Math.max(0, names.indexOf(state.text('label'))), paint = names.indexOf(state.text('by')), kinds = paint < 0 ? [] : [...new Set(cells.map(row => row[paint]))];
    const cloud = new Cloud(cells.map(row => row[shown] || ''), cells.map(row => paint < 0 ? data.COLORS[0] : data.COLORS[kinds.indexOf(row[paint]) % data.COLORS.length]));
    const note = h('span', { class: 'note', role: 'status', id: 'progress' }), method = state.text('method', 'pca'), dims = state.number('dims', 3) === 2 ? 2 : 3;
    const worker = new Worker(new URL('reduce.js', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data: found }) => {
        if (!cloud.element.isConnected && cloud.seen)
            return worker.terminate();
        cloud.seen = cloud.element.isConnected;
        cloud.set(found.points, dims);
        note.textContent = count + ' points, ' + columns + ' dimensions. ' + found.text;
    };
    worker.onerror = event => note.textContent = event.message || 'the worker did not start';
    worker.postMessage({ numbers, count, columns, method, dims, perplexity: state.number('perplexity', 15), rounds: state.number('rounds', 600) });
    const select = (label, options, value, key) => {
        const made = h('select', { 'aria-label': label, onchange: () => state.set(key, made.value) }, options.map(([option, text]) => h('option', { value: option, selected: option === value }, text)));
        return made;
    };
    const find = h('input', { type: 'search', placeholder: 'Find labels', 'aria-label': 'Find labels', oninput: () => {
        state.set('find', find.value, true);
        cloud.draw();
    } });
    find.value = state.text('find');
    content.append(h('div', { class: 'bar' }, select('Embedding', all.map(one => [one.title, one.title]), chosen.title, 'embedding'), segments('Method', [['pca', 'PCA'], ['tsne', 't-SNE']], method, value => state.set('method', value)),
        segments('Dimensions', [['2', '2D'], ['3', '3D']], String(dims), value => state.set('dims', value)), names.length > 1 ? select('Label', names.map(name => [name, 'label: ' + name]), names[shown], 'label') : null,
        names.length > 1 ? select('Colour by', [['', 'one colour'], ...names.map(name => [name, 'colour by ' + name])], state.text('by'), 'by') : null, find, note), h('article', { class: 'card' }, cloud.element));
    return { update: () => {}, restyle: () => cloud.draw() };
}
