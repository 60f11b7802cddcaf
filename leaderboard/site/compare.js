'use strict';
// Draws the comparison from the data in the page. Texts go in as text, never as markup.
const data = JSON.parse(document.getElementById('data').textContent);
const form = document.getElementById('pick');
const result = document.getElementById('result');
const SHOWN = 20;

function make(tag, properties, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}
const points = (x) => (x < 0 ? '\u2212' : '+') + Math.abs(100 * x).toFixed(1);
const percent = (x) => (100 * x).toFixed(1);
const p = (x) => (x < 0.0005 ? '< 0.001' : x.toFixed(3));
const rank = (x) => (x === null ? 'none' : Number.isInteger(x) ? String(x) : x.toFixed(1));

function number(value, label) {
  return make('div', {}, make('b', { textContent: value }), label);
}

const counted = (n, what) => `${rank(n)} ${what}${n === 1 ? '' : 's'}`;

// the same limit as MOST_MISSING of the board
function unanswered(duel, turned) {
  const [a, b] = turned ? [duel.missing_b, duel.missing_a] : [duel.missing_a, duel.missing_b];
  return [['A', a], ['B', b]].filter(([, n]) => n > 0.05 * duel.items)
    .map(([name, n]) => `${name} left ${n} of ${counted(duel.items, 'item')} unanswered`).join(' and ');
}

function summary(duel, turned) {
  const sign = turned ? -1 : 1;
  const low = turned ? -duel.high : duel.low;
  const high = turned ? -duel.low : duel.high;
  const [wins, losses] = turned ? [duel.losses, duel.wins] : [duel.wins, duel.losses];
  const answers = turned ? { yes: 'no', no: 'yes' } : {};
  const answer = answers[duel.answer] || duel.answer;
  const text = {
    yes: 'A is better than B.', no: 'B is better than A.',
    'cannot tell': 'These items cannot tell which is better.',
    'no verdict': `No verdict: ${unanswered(duel, turned)}; they count as wrong, so the difference says little about the models.`,
  }[answer];
  const first = duel.gaps[0];
  const box = make('div', { className: 'numbers' },
    number(percent(turned ? first.b : first.a), `A, ${first.label} in %`),
    number(percent(turned ? first.a : first.b), `B, ${first.label} in %`),
    number(points(sign * duel.difference), `difference, ${points(low)} to ${points(high)}`),
    number(p(duel.p), `p, ${duel.method}, this pair alone`),
    number(`${rank(wins)} : ${rank(losses)}`, 'only A right : only B right'));
  if (duel.p_holm !== null && duel.pairs > 1) box.append(
    number(p(duel.p_holm), `p by Holm over all ${duel.pairs} pairs, for claims`),
    number(p(duel.p_screening), 'p by Benjamini-Hochberg over them, for looking around'));
  box.append(duel.groups === null
    ? duel.detectable === null
      ? number('\u2013', 'the two disagree on too few items for any difference to be found reliably')
      : number(percent(duel.detectable), 'smallest difference these items would show, in 80 of 100 cases')
    : number(String(duel.groups), `groups of settings that count as one trial, of ${duel.items} settings`));
  const others = make('tbody', {});
  for (const gap of duel.gaps.slice(1)) {
    const [left, right] = turned ? [gap.b, gap.a] : [gap.a, gap.b];
    const [from, to] = turned ? [-gap.high, -gap.low] : [gap.low, gap.high];
    const row = make('tr', {}, make('th', { scope: 'row', textContent: gap.label }));
    for (const value of [percent(left), percent(right), `${points(sign * gap.difference)} (${points(from)} to ${points(to)})`]) row.append(make('td', { className: 'num', textContent: value }));
    others.append(row);
  }
  const head = make('tr', {});
  for (const title of ['Measure, %', 'A', 'B', 'difference']) head.append(make('th', { scope: 'col', textContent: title, className: title === 'Measure, %' ? '' : 'num' }));
  const table = make('table', { className: 'printed' }, make('thead', {}, head), others);
  const scroll = make('div', { className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: 'Other measures' }, table);
  return [make('p', { className: 'lead', textContent: text }), box, scroll];
}

function picture(item, place, a, b) {
  const gold = place === item.gold;
  const image = make('img', {
    src: item.pictures[place], alt: `Candidate ${place + 1}${gold ? ', the gold' : ''}`, loading: 'lazy',
  });
  const line = (name, answer) => {
    const value = answer === null ? '\u2013' : rank(answer[place]);
    return value === '1' ? make('b', { textContent: `${name} ${value}` }) : `${name} ${value}`;
  };
  return make('li', { className: gold ? 'gold' : '' },
    make('span', { className: 'frame' }, image), line('A', a), make('br'), line('B', b));
}

function pictures(item, a, b) {
  const list = make('ol', { className: 'duel' });
  for (let place = 0; place < item.pictures.length; place += 1) list.append(picture(item, place, a, b));
  return list;
}

function named(name, answer) {
  const list = make('dl', { className: 'facts named' });
  ['error', 'feature'].forEach((what, which) => {
    const told = make('dd', {});
    const names = answer === null ? [] : answer[which];
    names.forEach(([text, right], place) => told.append(place ? ', ' : '',
      right ? make('span', { className: 'tag right', textContent: `${text}, right` }) : text));
    if (!names.length) told.append(answer === null ? 'no answer' : 'nothing');
    list.append(make('dt', { textContent: `${name}, ${what}` }), told);
  });
  return list;
}

// how each kind of task draws the two answers to an item
const DRAWN = {
  ranking: (item, a, b) => [pictures(item, a, b)],
  naming: (item, a, b) => [named('A', a), named('B', b)],
};
const LEGEND = {
  ranking: 'Under each picture: the rank that A and B gave it; the gold is framed.',
  naming: 'Names in the order given.',
};

function itemBlock(item, a, b) {
  const link = make('a', { href: item.href, textContent: item.term });
  const block = make('section', {}, make('h3', {}, link, `: ${item.context}`), ...DRAWN[data.kind](item, a, b));
  for (const text of item.texts || []) {
    const facts = make('dl', { className: 'facts' });
    for (const [key, value] of text.texts) facts.append(make('dt', { textContent: key }), make('dd', { textContent: value }));
    block.append(make('details', {}, make('summary', { textContent: `What ${text.label} used` }), facts));
  }
  return block;
}

function draw() {
  const [a, b] = [form.elements.a.value, form.elements.b.value];
  const [first, second] = [data.answers[a], data.answers[b]];
  result.replaceChildren();
  if (a === b || !first || !second) {
    result.append(make('p', { className: 'lead', textContent: 'Choose two different models.' }));
    return;
  }
  const duel = data.duels.find((one) => (one.a === a && one.b === b) || (one.a === b && one.b === a));
  result.append(...summary(duel, duel.a !== a));
  const places = data.items.map((_, i) => i).filter((i) => first.first[i] !== second.first[i]);
  const gap = (i) => Math.abs(first.second[i] - second.second[i]);
  places.sort((x, y) => gap(y) - gap(x));
  result.append(make('h2', { textContent: `${counted(places.length, 'item')} where they disagree` }),
    make('p', { className: 'note', textContent: `Largest disagreement first. ${LEGEND[data.kind]}` }));
  let shown = 0;
  const more = make('button', { type: 'button' });
  const state = make('p', { className: 'note', role: 'status' });
  const next = () => {
    const part = places.slice(shown, shown + SHOWN);
    state.before(...part.map((i) => itemBlock(data.items[i], first.told[i], second.told[i])));
    shown += part.length;
    state.textContent = `${shown} of ${places.length} shown.`;
    more.textContent = `Show ${Math.min(SHOWN, places.length - shown)} more`;
    more.hidden = shown >= places.length;
  };
  more.addEventListener('click', next);
  result.append(state, more);
  next();
}

if (!data.server) {
  const wanted = new URLSearchParams(location.hash.slice(1));
  for (const side of ['a', 'b']) if (wanted.get(side)) form.elements[side].value = wanted.get(side);
  form.addEventListener('change', () => {
    history.replaceState(null, '', `#${new URLSearchParams({ a: form.elements.a.value, b: form.elements.b.value })}`);
    draw();
  });
}
draw();
