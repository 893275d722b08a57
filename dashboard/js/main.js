// The page: tabs, runs and settings at the side, and asking again for what changed.
import * as data from './data.js';
import { by, filterBox, h, later, matcher, segments, sign } from './dom.js';
import { curvesPage } from './pr.js';
import { graphsPage } from './graph.js';
import { distributionsPage, histogramsPage } from './histograms.js';
import { hparamsPage } from './hparams.js';
import { audioPage, imagesPage } from './media.js';
import { profilePage } from './profile.js';
import { projectorPage } from './projector.js';
import { customPage, scalarsPage } from './scalars.js';
import * as state from './state.js';
import { textPage } from './text.js';
import { timeSeriesPage } from './timeseries.js';

const EVERY = 1000; // milliseconds
const GRAPHS = ['graphs', 'graph_run_metadata', 'graph_run_metadata_graph', 'graph_keras_model', 'graph_tagged_run_metadata'];
const PAGES = [
    ['timeseries', 'Time series', timeSeriesPage, ['scalars', 'histograms', 'images']], ['scalars', 'Scalars', scalarsPage, ['scalars']],
    ['custom', 'Custom scalars', customPage, ['custom_scalars']], ['images', 'Images', imagesPage, ['images']], ['audio', 'Audio', audioPage, ['audio']],
    ['graphs', 'Graphs', graphsPage, GRAPHS], ['distributions', 'Distributions', distributionsPage, ['histograms']], ['histograms', 'Histograms', histogramsPage, ['histograms']],
    ['text', 'Text', textPage, ['text']], ['pr', 'PR curves', curvesPage, ['pr_curves']], ['hparams', 'HParams', hparamsPage, ['hparams']],
    ['profile', 'Profile', profilePage, []], ['projector', 'Projector', projectorPage, []],
];
const WITH_CURVES = ['timeseries', 'scalars', 'custom'];
let current = null, turn = 0, tagsKnown = '';

// ---- tabs

const chosen = () => PAGES.find(([name]) => name === state.page) || PAGES[1];

function drawTabs() {
    const plugins = new Set([...data.index.tags.values()].map(entry => entry.plugin)), box = by('tabs'), [active] = chosen();
    const has = ([name, , , needs]) => name === 'profile' ? data.index.profiles > 0 : name === 'projector' ? true : needs.some(plugin => plugins.has(plugin));
    if (!box.children.length) {
        for (const [name, title] of PAGES)
            box.append(h('button', { role: 'tab', type: 'button', id: 'tab-' + name, 'aria-controls': 'content', onclick: () => state.open(name), onkeydown: event => {
                const to = { ArrowRight: event.currentTarget.nextSibling, ArrowLeft: event.currentTarget.previousSibling }[event.key];
                to?.focus();
            } }, title));
    }
    PAGES.forEach((page, i) => {
        box.children[i].setAttribute('aria-selected', String(page[0] === active));
        box.children[i].tabIndex = page[0] === active ? 0 : -1;
        box.children[i].classList.toggle('empty', !has(page));
    });
    by('content').setAttribute('aria-labelledby', 'tab-' + active);
    box.querySelector('[aria-selected=true]').scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

// ---- the side

const restyle = later(() => current?.restyle ? current.restyle() : drawPage(), 30);

function drawRuns(list) {
    const fits = matcher(state.text('runs')), off = new Set(state.list('off'));
    list.replaceChildren(...data.index.runs.map((name, run) => [name, run]).filter(([name]) => fits(name)).map(([name, run]) => {
        const box = h('input', { type: 'checkbox', checked: !off.has(name), onchange: () => state.flip('off', name, !box.checked) });
        const color = h('input', { type: 'color', 'aria-label': 'Colour of ' + name, title: 'Colour of ' + name, onchange: () => {
            state.setItem('color', name, color.value);
            restyle();
        } });
        color.value = data.color(run);
        return h('li', {}, color, h('label', {}, box, h('span', {}, name)));
    }));
}

function drawSide() {
    const list = h('ul', { id: 'runs' }), curves = WITH_CURVES.includes(chosen()[0]), smooth = state.number('smooth', .6), focused = document.activeElement?.id;
    const value = h('output', { class: 'value', id: 'smooth-value' }, smooth.toFixed(2));
    const slider = h('input', { type: 'range', id: 'smooth', min: '0', max: '0.99', step: '0.01', 'aria-label': 'Smoothing', oninput: () => {
        value.textContent = (+slider.value).toFixed(2);
        state.set('smooth', +slider.value, true);
        restyle();
    } });
    slider.value = smooth;
    const check = (key, text, otherwise) => h('div', { class: 'row' }, h('label', {}, h('input', { type: 'checkbox', id: key, checked: state.flag(key, otherwise), onchange: event => {
        state.set(key, event.target.checked, true);
        restyle();
    } }), ' ' + text));
    const visible = () => data.index.runs.filter(matcher(state.text('runs')));
    by('side').replaceChildren(...curves ? [h('h2', {}, 'Smoothing'), h('div', { class: 'row' }, slider, value), h('h2', {}, 'Horizontal axis'),
        segments('Horizontal axis', [['step', 'Step'], ['relative', 'Relative'], ['wall', 'Wall']], state.text('x', 'step'), axis => {
            state.set('x', axis, true);
            restyle();
        }), check('outliers', 'Ignore outliers in scaling', true), check('log', 'Logarithmic scale', false)] : [],
    h('h2', {}, 'Runs'), filterBox('Filter runs (regular expression)', state.text('runs'), text => {
        state.set('runs', text, true);
        drawRuns(list);
    }), h('div', { class: 'row' },
        h('button', { class: 'link', type: 'button', id: 'all', onclick: () => state.set('off', state.list('off').filter(name => !visible().includes(name))) }, 'All'),
        h('button', { class: 'link', type: 'button', id: 'none', onclick: () => state.set('off', [...new Set([...state.list('off'), ...visible()])]) }, 'None'),
        h('button', { class: 'link', type: 'button', id: 'only', title: 'Show those that fit the filter, and no others', onclick: () => state.set('off', data.index.runs.filter(name => !visible().includes(name))) }, 'Only these')),
    list, h('h2', {}, 'Folder'), h('div', { class: 'place' }, data.index.place));
    drawRuns(list);
    if (focused)
        by(focused)?.focus();
}

// ---- the page itself

async function drawPage() {
    const mine = ++turn, content = by('content'), fresh = h('div');
    let made;
    by('tip').hidden = true;
    try {
        made = await chosen()[2](fresh);
    } catch (error) {
        fresh.replaceChildren(h('div', { class: 'empty-page', role: 'alert' }, error.message));
    }
    if (mine !== turn)
        return;
    const typing = content.contains(document.activeElement) && document.activeElement.matches('input[type=search]') ? document.activeElement.selectionStart : -1;
    content.replaceChildren(...fresh.childNodes);
    if (typing >= 0) {
        const box = content.querySelector('input[type=search]');
        box?.focus();
        box?.setSelectionRange(typing, typing);
    }
    current = made;
    made?.ready?.();
    document.body.dataset.page = chosen()[0];
}

function drawAll() {
    drawTabs();
    drawSide();
    return drawPage();
}

function tellDamage() {
    const box = by('damage'), text = data.index.damaged.map(({ run, file, places, bytes }) => run + '/' + file + ' is damaged: at ' + places + (places === 1 ? ' place' : ' places') + ' records were passed over, ' + bytes + ' bytes.').join(' ');
    box.hidden = !text;
    box.textContent = text;
}

async function refresh(forced) {
    try {
        const first = !data.index.instance, asked = first ? data.environment() : null, { changed, all } = await data.refresh(), known = [...data.index.tags.keys()].length + '/' + data.index.runs.length + '/' + data.index.profiles;
        if (first || changed.length || forced) {
            await (asked || data.environment());
            document.title = data.index.title || 'TensorBoard';
            tellDamage();
        }
        if (first || known !== tagsKnown || (all && !first)) {
            tagsKnown = known;
            await drawAll();
        } else if (changed.length || forced) {
            current?.update ? current.update(forced ? null : changed) : changed.some(entry => chosen()[3].includes(entry.plugin)) && await drawPage();
        }
        by('state').textContent = data.index.reading ? 'reading …' : new Date().toLocaleTimeString();
    } catch (error) {
        by('state').textContent = 'no answer: ' + error.message;
    }
}

// ---- colours

function theme() {
    const wanted = state.text('theme') || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    document.documentElement.dataset.theme = wanted;
    return wanted;
}

for (const name of ['menu', 'refresh', 'theme'])
    by(name).append(sign(name));
theme();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    theme();
    restyle();
});
by('theme').addEventListener('click', () => {
    state.set('theme', theme() === 'dark' ? 'light' : 'dark', true);
    theme();
    drawSide();
    restyle();
});
by('refresh').addEventListener('click', () => refresh(true));
by('skip').addEventListener('click', event => {
    event.preventDefault();
    by('content').focus();
});
by('menu').addEventListener('click', () => {
    const open = by('side').classList.toggle('open');
    by('menu').setAttribute('aria-expanded', String(open));
});
state.listen(key => {
    theme();
    if (key === 'page') {
        by('side').classList.remove('open');
        by('menu').setAttribute('aria-expanded', 'false');
        drawAll();
    } else if (key === 'off') {
        drawSide();
        drawPage();
    } else {
        drawPage();
    }
});
document.addEventListener('keydown', event => event.key === 'Escape' && (by('tip').hidden = true));

(async function follow() {
    if (!document.hidden || !data.index.instance)
        await refresh();
    setTimeout(follow, EVERY);
})();
