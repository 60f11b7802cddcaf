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
  }[answer];
  const box = make('div', { className: 'numbers' },
    number(percent(turned ? duel.hits1_b : duel.hits1_a), 'A, Hits@1 in %'),
    number(percent(turned ? duel.hits1_a : duel.hits1_b), 'B, Hits@1 in %'),
    number(points(sign * duel.difference), `difference, ${points(low)} to ${points(high)}`),
    number(p(duel.p), 'p, exact McNemar'),
    number(`${rank(wins)} : ${rank(losses)}`, 'only A right : only B right'),
    number(duel.detectable === null ? 'none' : percent(duel.detectable), 'smallest difference these items would show, in 80 of 100 cases'));
  return [make('p', { className: 'lead', textContent: text }), box];
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

function itemBlock(item, a, b) {
  const link = make('a', { href: item.href, textContent: item.term });
  const list = make('ol', { className: 'duel' });
  for (let place = 0; place < item.pictures.length; place += 1) list.append(picture(item, place, a, b));
  const block = make('section', {}, make('h3', {}, link, `: ${item.context}`), list);
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
  const places = data.items.map((_, i) => i).filter((i) => first.hits[i] !== second.hits[i]);
  places.sort((x, y) => Math.abs(first.mrr[y] - second.mrr[y]) - Math.abs(first.mrr[x] - second.mrr[x]));
  result.append(make('h2', { textContent: `${places.length} items where they disagree` }),
    make('p', { className: 'note', textContent: 'Largest disagreement first. Under each picture: the rank that A and B gave it; the gold is framed.' }));
  let shown = 0;
  const more = make('button', { type: 'button' });
  const next = () => {
    const part = places.slice(shown, shown + SHOWN);
    more.before(...part.map((i) => itemBlock(data.items[i], first.ranks[i], second.ranks[i])));
    shown += part.length;
    more.textContent = `Show more (${places.length - shown} left)`;
    more.hidden = shown >= places.length;
  };
  more.addEventListener('click', next);
  result.append(more);
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
