// Everything that changes over time on one page: curves, histograms and pictures of a tag stand together; pinned curves come first.
import * as data from './data.js';
import { emptyPage } from './dom.js';
import { HistogramCard } from './histograms.js';
import { MediaCard } from './media.js';
import { CurveCard, group, grouped, tagBar, visibleTags, watch } from './scalars.js';
import * as state from './state.js';
import { segments } from './dom.js';

const KINDS = [['all', 'All'], ['scalars', 'Scalars'], ['images', 'Images'], ['histograms', 'Histograms']];

export function timeSeriesPage(content) {
    const cards = [], kind = state.text('kind', 'all'), wanted = name => kind === 'all' || kind === name, items = [];
    if (wanted('scalars'))
        items.push(...visibleTags('scalars').map(([tag]) => [tag, () => new CurveCard(tag)]));
    if (wanted('images'))
        items.push(...visibleTags('images').flatMap(([tag, runs]) => runs.map(run => [tag, () => new MediaCard('images', tag, run)])));
    if (wanted('histograms'))
        items.push(...visibleTags('histograms').flatMap(([tag, runs]) => runs.map(run => [tag, () => new HistogramCard(tag, run)])));
    const make = ([, build]) => {
        const card = build();
        cards.push(card);
        return watch(card);
    };
    content.append(tagBar(items.length + (items.length === 1 ? ' card' : ' cards'), segments('Kinds', KINDS, kind, value => state.set('kind', value === 'all' ? '' : value))));
    const pins = state.list('pins').filter(tag => data.tagsOf('scalars').some(item => item[0] === tag));
    if (pins.length)
        content.append(group('Pinned', pins.map(tag => [tag, () => new CurveCard(tag)]), make, 100));
    for (const [name, list] of grouped(items.sort((a, b) => a[0].localeCompare(b[0], undefined, { numeric: true }))))
        content.append(group(name, list, make));
    if (!items.length)
        content.append(emptyPage('There is nothing here yet.'));
    return { update: changed => cards.forEach(card => (!changed || changed.some(entry => card.tags.includes(entry.tag))) && card.update()),
             restyle: () => cards.forEach(card => card.plugin === 'scalars' ? card.update() : card.draw()) };
}
