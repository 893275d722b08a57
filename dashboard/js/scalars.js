// Curves: cards of charts in groups and pages; also those of the time series page and of custom charts.
import { Chart } from './chart.js';
import * as data from './data.js';
import { emptyPage, exact, filterBox, h, matcher, moment, save, sign, toggle } from './dom.js';
import * as state from './state.js';

const PAGE = 12, TABLE_ROWS = 1000, AT_ONCE = 24, CARD = [420, 330];

export const settings = () => ({ axis: state.text('x', 'step'), weight: Math.min(.999, Math.max(0, state.number('smooth', .6))), log: state.flag('log'), outliers: state.flag('outliers', true) });

// ---- a card

// A card of the curves of a tag; `pick(run, curve)` may name and colour them differently.
export class CurveCard {
    constructor(tag, title = tag, tags = [tag], keyName = tag) {
        Object.assign(this, { tag, title, tags, keyName, plugin: 'scalars', shown: false });
        this.chart = new Chart({ label: 'Curves of ' + title + '. Arrow keys go from point to point, plus and minus zoom, 0 fits.', onzoom: () => this.look(), nothing: 'loading …' });
        this.body = h('div');
        const wide = state.list('wide').includes(keyName);
        this.head = h('div', { class: 'head' }, h('h3', { title }, title),
                      toggle('Pin this chart', 'pin', state.list('pins').includes(keyName), on => state.flip('pins', keyName, on)),
                      toggle('Logarithmic', 'log', state.list('logs').includes(keyName), on => {
                          state.flip('logs', keyName, on, true);
                          this.update();
                      }, 'Logarithmic scale'),
                      toggle('Full width', 'wide', wide, on => {
                          state.flip('wide', keyName, on, true);
                          this.element.classList.toggle('wide', on);
                      }),
                      h('button', { class: 'icon', type: 'button', 'aria-label': 'Fit to the data', title: 'Fit to the data', onclick: () => this.chart.fit() }, sign('fit')),
                      h('button', { class: 'icon', type: 'button', 'aria-label': 'Table and downloads', title: 'Table and downloads', 'aria-haspopup': 'menu', onclick: () => this.menu() }, sign('more')));
        this.element = h('article', { class: 'card' + (wide ? ' wide' : ''), 'data-tag': title }, this.head, this.chart.element, this.body);
    }

    runs() {
        const on = new Set(data.shown());
        return data.index.runs.map((name, run) => run).filter(run => on.has(run) && this.tags.some(tag => data.entry(tag, run)));
    }

    decorate(curve, tag) {
        const name = data.index.runs[curve.run];
        return { ...curve, tag, name: this.tags.length > 1 ? name + ': ' + tag : name, color: this.tags.length > 1 ? data.hue(curve.run * this.tags.length + this.tags.indexOf(tag)) : data.color(curve.run) };
    }

    async update() {
        if (!this.shown)
            return;
        const mine = this.turn = (this.turn || 0) + 1, found = [];
        try {
            for (const tag of this.tags)
                found.push(...(await data.curves(tag, this.runs().filter(run => data.entry(tag, run)))).map(curve => this.decorate(curve, tag)));
        } catch (error) {
            this.chart.options.nothing = error.message;
        }
        if (mine !== this.turn)
            return;
        if (this.chart.options.nothing === 'loading …')
            this.chart.options.nothing = '';
        this.curves = found;
        const chosen = settings();
        this.chart.set(found, { ...chosen, log: chosen.log !== state.list('logs').includes(this.keyName) });
        this.table?.();
        if (this.chart.view)
            this.look();
    }

    // Zoomed in: long curves are asked for more closely.
    look() {
        clearTimeout(this.looking);
        if (!this.curves?.some(curve => curve.kind))
            return;
        const { view } = this.chart;
        if (!view) {
            this.chart.set(this.curves);
            return;
        }
        this.looking = setTimeout(async () => {
            const close = [];
            for (const curve of this.curves) {
                if (!curve.kind) {
                    close.push(curve);
                    continue;
                }
                const [from, to] = this.steps(curve, view);
                const [found] = await data.closer(curve.tag, [curve.run], from, to);
                close.push(found ? this.decorate(found, curve.tag) : curve);
            }
            if (this.chart.view === view) {
                const box = this.chart.box;
                this.chart.set(close);
                this.chart.box = box;
            }
        }, 120);
    }

    // The steps that a view shows of a long curve, whatever its axis is.
    steps(curve, [x0, x1]) {
        const axis = this.chart.options.axis, { rows, width } = curve;
        if (axis === 'step')
            return [x0, x1];
        let from = Infinity, to = -Infinity;
        for (let at = 0; at < rows.length; at += width) {
            const time = t => axis === 'wall' ? t * 1000 : (t - rows[2]) / 3600;
            if (time(rows[at + 3]) >= x0 && time(rows[at + 2]) <= x1) {
                from = Math.min(from, rows[at]);
                to = Math.max(to, rows[at + 1]);
            }
        }
        return [from, to];
    }

    // ---- table and downloads

    rows() {
        return (this.curves || []).flatMap(curve => {
            const out = [];
            for (let at = 0; at < curve.rows.length; at += curve.width)
                out.push(curve.kind ? { run: curve.name, step: curve.rows[at], last: curve.rows[at + 1], time: curve.rows[at + 2], value: curve.rows[at + 8], lowest: curve.rows[at + 6], highest: curve.rows[at + 7], points: curve.rows[at + 9] }
                                    : { run: curve.name, step: curve.rows[at + 1], time: curve.rows[at], value: curve.rows[at + 2] });
            return out;
        });
    }

    menu() {
        const old = this.element.querySelector('.menu');
        if (old) {
            old.remove();
            return;
        }
        const close = () => {
            box.remove();
            document.removeEventListener('pointerdown', outside);
        };
        const item = (text, work) => h('button', { type: 'button', role: 'menuitem', onclick: () => {
            close();
            work();
        } }, text);
        const outside = event => box.contains(event.target) || event.target.closest('[aria-haspopup]') || close();
        const quote = text => /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
        const box = h('div', { class: 'menu', role: 'menu', onkeydown: event => event.key === 'Escape' && close() },
            item(this.table ? 'Hide the table' : 'Show the data as a table', () => this.showTable()),
            item('Download CSV', () => {
                const rows = this.rows(), long = rows.some(row => row.points);
                save(this.title + '.csv', 'text/csv', ['Run,Wall time,Step,Value' + (long ? ',Last step,Lowest,Highest,Points' : ''),
                    ...rows.map(row => [quote(row.run), row.time, row.step, row.value, ...long ? [row.last ?? row.step, row.lowest ?? row.value, row.highest ?? row.value, row.points ?? 1] : []].join(','))].join('\r\n') + '\r\n');
            }),
            item('Download JSON', () => save(this.title + '.json', 'application/json', JSON.stringify(this.rows().map(row => ({ ...row, value: Number.isFinite(row.value) ? row.value : String(row.value) })), null, 1))),
            item('Download SVG', () => save(this.title + '.svg', 'image/svg+xml', this.chart.toSVG(this.title))));
        this.element.append(box);
        box.firstChild.focus();
        document.addEventListener('pointerdown', outside);
    }

    showTable() {
        if (this.table) {
            this.table = null;
            this.body.replaceChildren();
            return;
        }
        this.table = () => {
            const rows = this.rows(), long = rows.some(row => row.points), cell = text => h('td', { class: 'number' }, text);
            this.body.replaceChildren(h('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Data of ' + this.title }, h('table', { class: 'data' },
                h('thead', {}, h('tr', {}, ['Run', 'Step', long ? 'Mean' : 'Value', ...long ? ['Lowest', 'Highest', 'Points'] : [], 'Time'].map((text, i) => h('th', { class: i ? 'number' : '' }, text)))),
                h('tbody', {}, rows.slice(0, TABLE_ROWS).map(row => h('tr', {}, h('td', {}, row.run), cell(String(row.step)), cell(exact(row.value)),
                    ...long ? [cell(exact(row.lowest ?? row.value)), cell(exact(row.highest ?? row.value)), cell(String(row.points ?? 1))] : [], cell(moment(row.time))))))),
                rows.length > TABLE_ROWS ? h('div', { class: 'note' }, 'The first ' + TABLE_ROWS + ' of ' + rows.length + ' rows.') : '');
        };
        this.table();
    }
}

// ---- groups and pages

const watcher = new IntersectionObserver(seen => {
    for (const { target, isIntersecting } of seen) {
        target.card.shown = isIntersecting;
        if (isIntersecting)
            target.card.update();
    }
}, { rootMargin: '200px' });

export function watch(card) {
    card.element.card = card;
    watcher.observe(card.element);
    return card.element;
}

// Groups that are far down are filled when they come near: a thousand cards take a second.
const filler = new IntersectionObserver(seen => {
    for (const { target, isIntersecting } of seen)
        if (isIntersecting)
            target.fill();
}, { rootMargin: '800px' });
let built = 0; // cards of this page so far

function fillLater(element, box, count, fill) {
    const [width, height] = CARD;
    requestAnimationFrame(() => box.children.length || (box.style.minHeight = Math.ceil(count / Math.max(1, Math.floor(element.clientWidth / width))) * height + 'px'));
    element.fill = () => {
        filler.unobserve(element);
        box.style.minHeight = '';
        if (!box.children.length)
            fill();
    };
    filler.observe(element);
}

// A group of things that can be closed, shown a page at a time.
export function group(name, things, make, size = PAGE) {
    const box = h('div', { class: 'cards' }), pager = h('div', { class: 'pager' }), pages = Math.ceil(things.length / size);
    let at = Math.min(pages - 1, state.item('page', name) || 0);
    const show = () => {
        box.replaceChildren(...things.slice(at * size, (at + 1) * size).map(make));
        const step = (text, label, by) => h('button', { type: 'button', 'aria-label': label, disabled: at + by < 0 || at + by >= pages, onclick: () => {
            at += by;
            state.setItem('page', name, at || undefined);
            show();
        } }, text);
        pager.replaceChildren(...pages > 1 ? [step('‹', 'Page before', -1), 'page ' + (at + 1) + ' of ' + pages, step('›', 'Next page', 1)] : []);
    };
    const made = h('details', { class: 'group', open: !state.list('closed').includes(name), ontoggle: () => {
        state.flip('closed', name, !made.open, true);
        if (made.open && !box.children.length && !made.fill)
            show();
    } }, h('summary', {}, name, h('span', { class: 'note' }, things.length + (things.length === 1 ? ' card' : ' cards'))), box, pager);
    const count = Math.min(size, things.length);
    if (!built)
        queueMicrotask(() => built = 0);
    if (made.open && (built += count) <= AT_ONCE)
        show();
    else if (made.open)
        fillLater(made, box, count, show);
    return made;
}

export function grouped(tags) {
    const groups = new Map();
    for (const item of tags) {
        const name = item[0].includes('/') ? item[0].split('/')[0] : 'Top level';
        groups.has(name) ? groups.get(name).push(item) : groups.set(name, [item]);
    }
    return groups;
}

export function tagBar(count, ...more) {
    return h('div', { class: 'bar' }, filterBox('Filter tags (regular expression)', state.text('tags'), value => state.set('tags', value)), ...more, h('span', { class: 'note' }, count));
}

export function visibleTags(plugin) {
    const on = new Set(data.shown()), fits = matcher(state.text('tags'));
    return data.tagsOf(plugin).map(([tag, runs]) => [tag, runs.filter(run => on.has(run))]).filter(([tag, runs]) => runs.length && fits(tag));
}

// ---- the page

export function scalarsPage(content) {
    const cards = new Map(), card = tag => {
        if (!cards.has(tag))
            cards.set(tag, new CurveCard(tag));
        return watch(cards.get(tag));
    };
    const tags = visibleTags('scalars'), pins = state.list('pins').filter(tag => tags.some(item => item[0] === tag));
    content.append(tagBar(tags.length + (tags.length === 1 ? ' tag' : ' tags')));
    if (pins.length)
        content.append(group('Pinned', pins.map(tag => [tag]), ([tag]) => {
            const made = new CurveCard(tag);
            cards.set('pin\0' + tag, made);
            return watch(made);
        }, 100));
    for (const [name, list] of grouped(tags))
        content.append(group(name, list, ([tag]) => card(tag)));
    if (!tags.length)
        content.append(emptyPage(state.text('tags') || data.tagsOf('scalars').length ? 'No tag fits.' : 'There are no scalars in these logs yet.', "tf.summary.scalar('loss', value, step=step) writes some."));
    return { update: changed => cards.forEach(one => (!changed || changed.some(entry => one.tags.includes(entry.tag))) && one.update()), restyle: () => cards.forEach(one => one.update()) };
}

// ---- custom charts

export async function customPage(content) {
    const layout = await data.ask('custom_scalars', 'layout'), cards = [], tags = data.tagsOf('scalars').map(item => item[0]);
    const fitting = expression => {
        try {
            const test = new RegExp('^(?:' + expression + ')');
            return tags.filter(tag => test.test(tag));
        } catch {
            return [];
        }
    };
    for (const { title, chart } of layout.category || []) {
        content.append(group(title || 'Charts', chart.map(one => [one]), ([one]) => {
            const found = one.multiline ? [...new Set(one.multiline.tag.flatMap(fitting))] : (one.margin?.series || []).flatMap(series => [series.value, series.lower, series.upper]).filter(tag => tags.includes(tag));
            const card = new CurveCard(one.title, one.title, found, 'custom ' + one.title);
            cards.push(card);
            return watch(card);
        }));
    }
    if (!layout.category?.length)
        content.append(emptyPage('There is no layout of custom charts in these logs.'));
    return { update: () => cards.forEach(card => card.update()), restyle: () => cards.forEach(card => card.update()) };
}
