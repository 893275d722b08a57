// Texts. The server makes HTML of their Markdown; here only harmless elements of it are built anew.
import * as data from './data.js';
import { emptyPage, h, moment } from './dom.js';
import { group, grouped, tagBar, visibleTags, watch } from './scalars.js';

const ALLOWED = new Set(['UL', 'OL', 'LI', 'P', 'PRE', 'CODE', 'BLOCKQUOTE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'HR', 'BR', 'STRONG', 'EM', 'A', 'TABLE', 'THEAD', 'TBODY', 'TD', 'TR', 'TH']);
const FIRST = 5, MORE = 20;

function copy(from, to) {
    for (const node of from.childNodes) {
        if (node.nodeType === Node.TEXT_NODE) {
            to.append(node.textContent);
        } else if (node.nodeType === Node.ELEMENT_NODE) {
            if (node.nodeName === 'IMG')
                to.append(node.getAttribute('alt') || '');
            if (!ALLOWED.has(node.nodeName)) {
                copy(node, to);
                continue;
            }
            const made = document.createElement(node.nodeName);
            const link = node.nodeName === 'A' ? node.getAttribute('href') : null;
            if (link && /^(https?:|mailto:)/i.test(link)) {
                made.setAttribute('href', link);
                made.setAttribute('rel', 'noopener noreferrer nofollow');
                made.setAttribute('target', '_blank');
            }
            copy(node, made);
            to.append(made);
        }
    }
}

export function safe(html) {
    const out = h('div', { class: 'text' });
    copy(new DOMParser().parseFromString(html, 'text/html').body, out);
    return out;
}

class TextCard {
    constructor(tag, run) {
        Object.assign(this, { tag, run, tags: [tag], shown: false, most: FIRST });
        const dot = h('span', { class: 'dot' });
        dot.style.background = data.color(run);
        this.body = h('div');
        this.element = h('article', { class: 'card wide', 'data-tag': tag }, h('div', { class: 'head' }, h('h3', {}, data.entry(tag, run)?.title || tag, h('span', { class: 'run' }, dot, data.index.runs[run]))), this.body);
    }

    async update() {
        const found = data.entry(this.tag, this.run);
        if (!this.shown || !found || found.generation === this.generation)
            return;
        this.generation = found.generation;
        this.points = await data.ask('text', 'text', { run: data.index.runs[this.run], tag: this.tag });
        this.draw();
    }

    draw() {
        const list = [...this.points].reverse();
        this.body.replaceChildren(...list.slice(0, this.most).map(point => h('div', { class: 'entry' }, h('div', { class: 'when' }, 'step ' + point.step + ' · ' + moment(point.wall_time)), safe(point.text))),
            list.length > this.most ? h('button', { type: 'button', onclick: () => {
                this.most += MORE;
                this.draw();
            } }, 'Show more (' + (list.length - this.most) + ')') : '');
    }
}

export function textPage(content) {
    const cards = [], tags = visibleTags('text').flatMap(([tag, runs]) => runs.map(run => [tag, run]));
    content.append(tagBar(tags.length + (tags.length === 1 ? ' card' : ' cards')));
    for (const [name, list] of grouped(tags))
        content.append(group(name, list, ([tag, run]) => {
            const card = new TextCard(tag, run);
            cards.push(card);
            return watch(card);
        }));
    if (!tags.length)
        content.append(emptyPage('There are no texts in these logs yet.', "tf.summary.text('note', text, step=step) writes some."));
    return { update: () => cards.forEach(card => card.update()), restyle: () => {} };
}
