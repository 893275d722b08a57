// Hyperparameters and metrics of all trials: a table, parallel coordinates, and scatter plots.
import * as data from './data.js';
import { emptyPage, exact, h, segments, short, svg } from './dom.js';
import { ticks } from './chart.js';
import * as state from './state.js';

const STATUSES = ['STATUS_UNKNOWN', 'STATUS_SUCCESS', 'STATUS_FAILURE', 'STATUS_RUNNING'], MOST = 5000;

const value = (group, column) => column.metric ? group.metricValues.find(one => one.name.tag === column.tag && one.name.group === column.group)?.value : group.hparams[column.name];
const told = found => found === undefined || found === null ? '' : typeof found === 'number' ? exact(found) : String(found);

function columnsOf(experiment) {
    return [...experiment.hparamInfos.map(info => ({ key: info.name, name: info.name, title: info.displayName || info.name })),
            ...experiment.metricInfos.map(info => ({ key: (info.name.group ? info.name.group + '/' : '') + info.name.tag, metric: true, tag: info.name.tag, group: info.name.group, title: info.displayName || (info.name.group ? info.name.group + '/' : '') + info.name.tag }))];
}

// From values to places between 0 and 1: numbers by size, others in their order.
function scaleOf(groups, column) {
    const all = groups.map(group => value(group, column)).filter(found => found !== undefined && found !== null);
    if (all.length && all.every(found => typeof found === 'number')) {
        const finite = all.filter(Number.isFinite), low = Math.min(...finite), high = Math.max(...finite), log = column.metric ? false : low > 0 && high / low >= 50;
        const f = log ? Math.log10 : x => x, [a, z] = [f(low), f(high)];
        const marks = log ? ticks(a, z, 4).map(x => [(x - a) / (z - a), short(10 ** x)]) : low === high ? [[.5, short(low)]] : ticks(low, high, 4).map(x => [(x - low) / (high - low), short(x)]);
        return { at: found => typeof found !== 'number' ? NaN : low === high ? .5 : (f(found) - a) / (z - a), marks };
    }
    const names = [...new Set(all.map(String))].sort();
    return { at: found => found === undefined || found === null ? NaN : names.length < 2 ? .5 : names.indexOf(String(found)) / (names.length - 1), marks: names.map((name, i) => [names.length < 2 ? .5 : i / (names.length - 1), name]) };
}

// From blue to orange.
const tint = at => Number.isFinite(at) ? 'hsl(' + (215 - 190 * at) + ' 75% ' + (46 + 4 * at) + '%)' : '#888';

function table(groups, columns, redraw) {
    const [by, order] = [state.text('sort'), state.text('order', 'down')], column = columns.find(one => one.key === by), sorted = [...groups];
    if (column)
        sorted.sort((a, b) => {
            const [p, q] = [value(a, column), value(b, column)], side = order === 'up' ? 1 : -1;
            return p === q ? 0 : p === undefined ? 1 : q === undefined ? -1 : typeof p === 'number' && typeof q === 'number' ? side * (p - q) : side * String(p).localeCompare(String(q));
        });
    const head = one => {
        const chosen = one.key === by;
        return h('th', { class: one.metric ? 'number' : '', 'aria-sort': chosen ? order === 'up' ? 'ascending' : 'descending' : 'none' }, h('button', { type: 'button', onclick: () => {
            state.set('order', chosen && order === 'down' ? 'up' : 'down', true);
            state.set('sort', one.key, true);
            redraw();
        } }, one.title + (chosen ? order === 'up' ? ' ↑' : ' ↓' : '')));
    };
    return h('div', { class: 'table-page', tabIndex: 0, role: 'region', 'aria-label': 'Trials' }, h('table', { class: 'data' }, h('thead', {}, h('tr', {}, h('th', {}, 'Trial'), columns.map(head))),
        h('tbody', {}, sorted.slice(0, MOST).map(group => h('tr', {}, h('td', {}, group.name), columns.map(one => h('td', { class: typeof value(group, one) === 'number' ? 'number' : '' }, told(value(group, one)))))))));
}

function parallel(groups, columns, paint) {
    const width = Math.max(640, 130 * columns.length), height = 360, X = i => columns.length < 2 ? width / 2 : 60 + i * (width - 120) / (columns.length - 1), Y = at => height - 40 - at * (height - 90);
    const scales = columns.map(column => scaleOf(groups, column)), colors = paint ? scaleOf(groups, paint) : null, out = svg('svg', { viewBox: '0 0 ' + width + ' ' + height, width, role: 'img', 'aria-label': 'Parallel coordinates of ' + groups.length + ' trials' });
    for (const group of groups) {
        const places = columns.map((column, i) => [X(i), Y(scales[i].at(value(group, column)))]).filter(([, y]) => Number.isFinite(y));
        const line = svg('path', { d: 'M' + places.map(point => point.map(n => n.toFixed(1)).join(',')).join('L'), fill: 'none', stroke: colors ? tint(colors.at(value(group, paint))) : 'var(--accent)', 'stroke-width': 2, 'stroke-opacity': .75, class: 'trial' },
            svg('title', {}, group.name + '\n' + columns.map(column => column.title + ': ' + told(value(group, column))).join('\n')));
        line.addEventListener('pointerenter', () => line.setAttribute('stroke-width', 5));
        line.addEventListener('pointerleave', () => line.setAttribute('stroke-width', 2));
        out.append(line);
    }
    columns.forEach((column, i) => {
        out.append(svg('line', { x1: X(i), x2: X(i), y1: Y(0), y2: Y(1), stroke: 'var(--soft)' }), svg('text', { x: X(i), y: 20, class: 'axis', 'text-anchor': 'middle', 'font-weight': 600 }, column.title));
        for (const [at, text] of scales[i].marks)
            out.append(svg('text', { x: X(i) + 6, y: Y(at) + 4, class: 'axis' }, text));
    });
    return h('div', { class: 'table-page', tabIndex: 0, role: 'region', 'aria-label': 'Parallel coordinates' }, out);
}

function scatter(groups, columns, paint) {
    const metrics = columns.filter(column => column.metric), others = columns.filter(column => !column.metric), size = 240, colors = paint ? scaleOf(groups, paint) : null;
    const plot = (x, y) => {
        const [sx, sy] = [scaleOf(groups, x), scaleOf(groups, y)], X = at => 46 + at * (size - 66), Y = at => size - 34 - at * (size - 60), out = svg('svg', { viewBox: '0 0 ' + size + ' ' + size, width: '100%', role: 'img', 'aria-label': y.title + ' over ' + x.title });
        for (const [at, text] of sx.marks)
            out.append(svg('line', { x1: X(at), x2: X(at), y1: Y(0), y2: Y(1), class: 'grid' }), svg('text', { x: X(at), y: size - 18, class: 'axis', 'text-anchor': 'middle' }, text));
        for (const [at, text] of sy.marks)
            out.append(svg('line', { x1: X(0), x2: X(1), y1: Y(at), y2: Y(at), class: 'grid' }), svg('text', { x: 42, y: Y(at) + 4, class: 'axis', 'text-anchor': 'end' }, text));
        for (const group of groups) {
            const [px, py] = [sx.at(value(group, x)), sy.at(value(group, y))];
            if (Number.isFinite(px + py))
                out.append(svg('circle', { cx: X(px), cy: Y(py), r: 4, fill: colors ? tint(colors.at(value(group, paint))) : 'var(--accent)', 'fill-opacity': .85 }, svg('title', {}, group.name + ': ' + told(value(group, x)) + ', ' + told(value(group, y)))));
        }
        out.append(svg('text', { x: size / 2, y: size - 3, class: 'axis', 'text-anchor': 'middle' }, x.title), svg('text', { x: 6, y: 14, class: 'axis' }, y.title));
        return h('article', { class: 'card' }, out);
    };
    return h('div', { class: 'cards' }, metrics.flatMap(y => others.map(x => plot(x, y))));
}

export async function hparamsPage(content) {
    const experiment = await data.post('hparams', 'experiment', {}), { sessionGroups } = await data.post('hparams', 'session_groups', { startIndex: 0, sliceSize: MOST, allowedStatuses: STATUSES, colParams: [] });
    const all = columnsOf(experiment), hidden = () => new Set(state.list('columns'));
    if (!sessionGroups.length) {
        content.append(emptyPage('There are no hyperparameters in these logs yet.', 'hp.hparams({…}) or add_hparams of PyTorch\'s SummaryWriter writes some.'));
        return {};
    }
    const body = h('div'), metrics = all.filter(column => column.metric);
    const draw = () => {
        const columns = all.filter(column => !hidden().has(column.key)), paint = all.find(column => column.key === state.text('tint')) || metrics[0], view = state.text('view', 'table');
        body.replaceChildren(view === 'parallel' ? parallel(sessionGroups, columns, paint) : view === 'scatter' ? scatter(sessionGroups, columns, paint) : table(sessionGroups, columns, draw));
    };
    const colors = h('select', { 'aria-label': 'Colour by', onchange: () => {
        state.set('tint', colors.value, true);
        draw();
    } }, all.map(column => h('option', { value: column.key, selected: column.key === (state.text('tint') || metrics[0]?.key) }, 'colour by ' + column.title)));
    content.append(h('div', { class: 'bar' }, segments('View', [['table', 'Table'], ['parallel', 'Parallel coordinates'], ['scatter', 'Scatter']], state.text('view', 'table'), view => {
        state.set('view', view, true);
        draw();
    }), colors, h('span', { class: 'note' }, sessionGroups.length + (sessionGroups.length === 1 ? ' trial' : ' trials'))),
    h('div', { class: 'bar', role: 'group', 'aria-label': 'Columns' }, all.map(column => h('label', {}, h('input', { type: 'checkbox', checked: !hidden().has(column.key), onchange: event => {
        state.flip('columns', column.key, !event.target.checked, true);
        draw();
    } }), column.title))), body);
    draw();
    return { restyle: draw };
}
