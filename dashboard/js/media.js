// Pictures and sounds: a card per tag and run, with a slider over the steps.
import * as data from './data.js';
import { emptyPage, h, moment, toggle } from './dom.js';
import { group, grouped, tagBar, visibleTags, watch } from './scalars.js';
import * as state from './state.js';

export class MediaCard {
    constructor(plugin, tag, run) {
        Object.assign(this, { plugin, tag, run, tags: [tag], name: data.index.runs[run] + '\0' + tag, shown: false, steps: [] });
        const dot = h('span', { class: 'dot' });
        dot.style.background = data.color(run);
        this.out = h('output');
        this.slider = h('input', { type: 'range', min: '0', max: '0', 'aria-label': 'Step of ' + tag, oninput: () => this.move() });
        this.samples = h('div', { class: 'samples' });
        this.stepper = h('div', { class: 'stepper' }, this.slider, this.out);
        this.element = h('article', { class: 'card' + (state.list('wide').includes(this.name) ? ' wide' : ''), 'data-tag': tag }, h('div', { class: 'head' }, h('h3', {}, data.entry(tag, run)?.title || tag, h('span', { class: 'run' }, dot, data.index.runs[run])),
            ...plugin === 'images' ? [toggle('Actual size', 'actual', state.list('actual').includes(this.name), on => {
                state.flip('actual', this.name, on, true);
                this.draw();
            })] : [], toggle('Full width', 'wide', state.list('wide').includes(this.name), on => {
                state.flip('wide', this.name, on, true);
                this.element.classList.toggle('wide', on);
            })), this.stepper, this.samples);
    }

    async update() {
        const found = data.entry(this.tag, this.run);
        if (!this.shown || !found || found.generation === this.generation)
            return;
        this.generation = found.generation;
        const count = Math.min(64, this.plugin === 'images' ? found.samples - 2 : found.samples / 2), kind = this.plugin;
        const lists = await Promise.all(Array.from({ length: Math.max(1, count) }, (_, sample) => data.ask(kind, kind, { run: data.index.runs[this.run], tag: this.tag, sample })));
        const before = this.steps.length, last = before && +this.slider.value === before - 1, kept = state.item('at', this.name);
        this.steps = lists[0].map((first, i) => ({ step: first.step, time: first.wall_time, queries: lists.map(list => list.find(one => one.step === first.step && one.wall_time === first.wall_time)?.query).filter(Boolean) }));
        this.slider.max = this.steps.length - 1;
        const wanted = kept === undefined ? this.steps.length - 1 : this.steps.findIndex(one => one.step === kept);
        this.slider.value = before && !last ? this.slider.value : wanted < 0 ? this.steps.length - 1 : wanted;
        this.stepper.hidden = !this.steps.length;
        this.draw();
    }

    move() {
        const at = +this.slider.value;
        state.setItem('at', this.name, at === this.steps.length - 1 ? undefined : this.steps[at]?.step);
        this.draw();
    }

    draw() {
        const chosen = this.steps[+this.slider.value], light = state.number('light', 1), contrast = state.number('contrast', 1);
        if (!chosen)
            return;
        this.out.textContent = 'step ' + chosen.step;
        this.out.title = moment(chosen.time);
        this.slider.setAttribute('aria-valuetext', 'step ' + chosen.step);
        this.samples.classList.toggle('actual', state.list('actual').includes(this.name));
        const title = i => this.tag + ', ' + data.index.runs[this.run] + ', step ' + chosen.step + (chosen.queries.length > 1 ? ', sample ' + (i + 1) : '');
        this.samples.replaceChildren(...chosen.queries.map((query, i) => {
            if (this.plugin === 'audio')
                return h('audio', { controls: true, preload: 'metadata', 'aria-label': title(i), src: 'data/plugin/audio/individualAudio?' + query });
            const made = h('img', { alt: title(i), title: title(i), loading: 'lazy', src: 'data/plugin/images/individualImage?' + query });
            made.style.filter = light === 1 && contrast === 1 ? '' : 'brightness(' + light + ') contrast(' + contrast + ')';
            return made;
        }));
    }
}

function slider(label, key, change) {
    const input = h('input', { type: 'range', min: '0', max: '3', step: '0.05', 'aria-label': label, id: key, oninput: () => {
        state.set(key, +input.value === 1 ? '' : +input.value, true);
        change();
    } });
    input.value = state.number(key, 1);
    return h('label', {}, label, input);
}

function mediaPage(plugin, nothing, how) {
    return content => {
        const cards = [], tags = visibleTags(plugin).flatMap(([tag, runs]) => runs.map(run => [tag, run]));
        const redraw = () => cards.forEach(card => card.draw());
        content.append(tagBar(tags.length + (tags.length === 1 ? ' card' : ' cards'), ...plugin === 'images' ? [slider('Brightness', 'light', redraw), slider('Contrast', 'contrast', redraw),
            h('button', { type: 'button', onclick: event => {
                for (const key of ['light', 'contrast']) {
                    state.set(key, '', true);
                    event.currentTarget.parentNode.querySelector('#' + key).value = 1;
                }
                redraw();
            } }, 'Reset')] : []));
        for (const [name, list] of grouped(tags))
            content.append(group(name, list, ([tag, run]) => {
                const card = new MediaCard(plugin, tag, run);
                cards.push(card);
                return watch(card);
            }));
        if (!tags.length)
            content.append(emptyPage(nothing, how));
        return { update: () => cards.forEach(card => card.update()), restyle: redraw };
    };
}

export const imagesPage = mediaPage('images', 'There are no images in these logs yet.', "tf.summary.image('picture', batch, step=step) writes some.");
export const audioPage = mediaPage('audio', 'There is no audio in these logs yet.', "tf.summary.audio('sound', clips, rate, step=step) writes some.");
