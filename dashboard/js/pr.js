// Precision-recall curves: a card per tag, all runs of it, with a slider over the steps.
import { Chart } from './chart.js';
import * as data from './data.js';
import { emptyPage, h, short } from './dom.js';
import { group, grouped, tagBar, visibleTags, watch } from './scalars.js';
import * as state from './state.js';

class PrCard {
    constructor(tag, runs) {
        Object.assign(this, { tag, runs, tags: [tag], shown: false, found: {} });
        this.chart = new Chart({ label: 'Precision over recall of ' + tag, axis: 'step', box: [-.02, 1.04, -.02, 1.06], heads: ['', 'Run', 'Threshold', 'Recall', 'Precision', 'TP', 'FP', 'TN', 'FN'],
                                 cells: (s, i) => [s.name, short(s.raw.thresholds[i]), short(s.raw.recall[i]), short(s.raw.precision[i]), ...['true_positives', 'false_positives', 'true_negatives', 'false_negatives'].map(key => String(s.raw[key][i]))] });
        this.steppers = h('div');
        this.element = h('article', { class: 'card', 'data-tag': tag }, h('div', { class: 'head' }, h('h3', {}, data.entry(tag, runs[0])?.title || tag)), this.chart.element, this.steppers);
    }

    async update() {
        const generation = Math.max(...this.runs.map(run => data.entry(this.tag, run)?.generation || 0));
        if (!this.shown || generation === this.generation)
            return;
        this.generation = generation;
        const query = new URLSearchParams([['tag', this.tag], ...this.runs.map(run => ['run', data.index.runs[run]])]);
        this.found = await (await fetch('data/plugin/pr_curves/pr_curves?' + query)).json();
        this.steppers.replaceChildren(...this.runs.map(run => this.stepper(run)));
        this.draw();
    }

    stepper(run) {
        const name = data.index.runs[run], list = this.found[name] || [], key = name + '\0' + this.tag, out = h('output'), dot = h('span', { class: 'dot' }), kept = list.findIndex(one => one.step === state.item('at', key));
        dot.style.background = data.color(run);
        const slider = h('input', { type: 'range', min: '0', max: String(Math.max(0, list.length - 1)), 'aria-label': 'Step of ' + name, oninput: () => {
            state.setItem('at', key, +slider.value === list.length - 1 ? undefined : list[+slider.value]?.step);
            show();
            this.draw();
        } });
        slider.value = kept < 0 ? list.length - 1 : kept;
        const show = () => out.textContent = name + ', step ' + (list[+slider.value]?.step ?? '');
        show();
        return h('div', { class: 'stepper' }, dot, slider, out);
    }

    draw() {
        const curves = this.runs.map((run, i) => {
            const list = this.found[data.index.runs[run]] || [], raw = list[+(this.steppers.children[i]?.querySelector('input').value || 0)];
            if (!raw)
                return null;
            const rows = new Float64Array(raw.recall.length * 3), turned = Object.fromEntries(Object.entries(raw).map(([key, values]) => [key, Array.isArray(values) ? [...values].reverse() : values]));
            turned.recall.forEach((recall, k) => rows.set([raw.wall_time, recall, turned.precision[k]], 3 * k));
            return { kind: 0, width: 3, rows, raw: turned, name: data.index.runs[run], color: data.color(run) };
        }).filter(Boolean);
        this.chart.set(curves);
    }
}

export function curvesPage(content) {
    const cards = [], tags = visibleTags('pr_curves');
    content.append(tagBar(tags.length + (tags.length === 1 ? ' tag' : ' tags')));
    for (const [name, list] of grouped(tags))
        content.append(group(name, list, ([tag, runs]) => {
            const card = new PrCard(tag, runs);
            cards.push(card);
            return watch(card);
        }));
    if (!tags.length)
        content.append(emptyPage('There are no precision-recall curves in these logs yet.', 'add_pr_curve of a SummaryWriter writes some.'));
    return { update: () => cards.forEach(card => card.update()), restyle: () => cards.forEach(card => card.draw()) };
}
