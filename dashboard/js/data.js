// What the server knows, asked for when it is needed, and only what changed. Addresses are relative, so a prefix is fine.
import * as state from './state.js';

export const COLORS = ['#d9600a', '#1f6fd6', '#1a8a4a', '#c0368f', '#7a4fd0', '#0f8a94', '#a86d00', '#cf2e2e', '#5b7a1e', '#4d6a8a', '#b0563a', '#8a5a9e'];
const BRIGHT = ['#ff9a4d', '#6aa9ff', '#4fc983', '#f07fc4', '#b394ff', '#4cc9d4', '#e0b04a', '#ff7b72', '#a3c85a', '#8fb3d9', '#e8977c', '#cf9be3']; // on a dark ground
export const index = { runs: [], times: [], tags: new Map(), generation: 0, instance: '', profiles: 0, reading: false, damaged: [], place: '' };
const series = new Map(); // by tag and run

async function get(path, kind = 'json') {
    const answer = await fetch(path);
    if (!answer.ok)
        throw Error(path.split('?')[0] + ': ' + answer.status);
    return answer[kind]();
}

export const address = (plugin, what, query = {}) => 'data/plugin/' + plugin + '/' + what + '?' + new URLSearchParams(query);
export const ask = (plugin, what, query) => get(address(plugin, what, query));
export const askText = (plugin, what, query) => get(address(plugin, what, query), 'text');
export const askBytes = (plugin, what, query) => get(address(plugin, what, query), 'arrayBuffer');

export async function post(plugin, what, body) {
    const answer = await fetch('data/plugin/' + plugin + '/' + what, { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } });
    if (!answer.ok)
        throw Error(what + ': ' + answer.status);
    return answer.json();
}

export async function environment() {
    const found = await get('data/environment');
    index.damaged = found.damaged || [];
    index.place = found.data_location;
    index.title = found.window_title;
    return found;
}

const key = (tag, run) => run + '\0' + tag;

// Whether something changed: {changed: [entry, …], all: everything is new}.
export async function refresh() {
    let found = await get('data/changes?since=' + index.generation);
    const all = found.instance !== index.instance;
    if (all && index.generation) {
        index.tags.clear();
        series.clear();
        found = await get('data/changes');
    }
    const runsChanged = found.runs.length !== index.runs.length;
    Object.assign(index, { runs: found.runs, times: found.times, generation: found.generation, instance: found.instance, reading: found.reading, profiles: found.profiles });
    const changed = found.tags.map(([run, plugin, tag, title, points, samples, generation]) => {
        const entry = { run, plugin, tag, title: title || tag, points, samples, generation };
        index.tags.set(key(tag, run), entry);
        return entry;
    });
    return { changed, all: all || runsChanged };
}

export const entries = plugin => [...index.tags.values()].filter(entry => entry.plugin === plugin);
export const entry = (tag, run) => index.tags.get(key(tag, run));

// Tags of a plugin with the runs that have them: [[tag, [run, …]], …], in order.
export function tagsOf(plugin) {
    const found = new Map();
    for (const { tag, run } of entries(plugin))
        found.has(tag) ? found.get(tag).push(run) : found.set(tag, [run]);
    const natural = new Intl.Collator(undefined, { numeric: true });
    return [...found].sort((a, b) => natural.compare(a[0], b[0]));
}

// ---- runs

export const hue = number => (document.documentElement.dataset.theme === 'dark' ? BRIGHT : COLORS)[number % COLORS.length];
export const color = run => state.item('color', index.runs[run]) || hue(run);
export function shown() {
    const off = new Set(state.list('off'));
    return index.runs.map((name, run) => run).filter(run => !off.has(index.runs[run]));
}

// ---- curves

const WIDTHS = [3, 10];

function unpack(bytes) {
    const numbers = new Float64Array(bytes), out = [];
    for (let at = 0; at < numbers.length;) {
        const [run, kind, rows, total, generation] = numbers.subarray(at, at + 5), width = WIDTHS[kind];
        at += 5;
        out.push({ run, kind, width, total, generation, rows: numbers.subarray(at, at + rows * width) });
        at += rows * width;
    }
    return out;
}

function joined(old, more) {
    const rows = new Float64Array(old.rows.length + more.rows.length);
    rows.set(old.rows);
    rows.set(more.rows, old.rows.length);
    return { ...more, rows };
}

// The curves of a tag, of these runs: those that changed are asked for, and of short ones only the new points.
export async function curves(tag, runs) {
    const stale = runs.filter(run => entry(tag, run) && !(series.get(key(tag, run))?.generation >= entry(tag, run).generation));
    for (let at = 0; at < stale.length; at += 400) {
        const asked = stale.slice(at, at + 400).map(run => {
            const known = series.get(key(tag, run));
            return known && known.kind === 0 ? run + ':' + known.rows.length / 3 : String(run);
        });
        for (const found of unpack(await askBytes('scalars', 'series', { tag, runs: asked.join(',') }))) {
            const known = series.get(key(tag, found.run)), have = known && known.kind === 0 ? known.rows.length / 3 : 0;
            const whole = found.kind === 0 && have && found.total === have + found.rows.length / 3;
            series.set(key(tag, found.run), whole ? joined(known, found) : found);
        }
    }
    return runs.map(run => series.get(key(tag, run))).filter(Boolean);
}

// A part of long curves, more closely.
export const closer = async (tag, runs, from, to) => unpack(await askBytes('scalars', 'series', { tag, runs: runs.join(','), from, to }));
