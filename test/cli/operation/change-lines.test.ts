import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changeLines, changeText, namedChanges } from '../../../src/cli/operation/differences.ts'

const shown = (from: unknown, to: unknown, width = 60) => changeLines('body', from, to, width).join('\n')

test('a short value is one line', () => {
  expect(shown('draft', 'published')).toBe('body: "draft" → "published"')
  expect(shown(undefined, 90)).toBe('body: none → 90')
})

test('a text is shown by the lines that differ, with one around them', () => {
  const before = ['# Corals', '', 'They are animals.', 'They build reefs.', 'They live long.', 'The end.']
  const after = before.with(2, 'They are tiny animals.')
  expect(shown(before.join('\n'), after.join('\n'))).toBe(`body:
    …

  - They are animals.
  + They are tiny animals.
    They build reefs.
    …`)
})

test('items without names are numbered, and paired with those of their type', () => {
  const link = { type: 'link', url: 'https://example.org/a' }
  const text = { type: 'markdown', body: 'One' }
  expect(
    changeLines(
      'blocks',
      [text, link],
      [{ ...text, body: 'Two' }, text, { ...link, url: 'https://b.example' }],
      80,
    ),
  ).toEqual([
    'blocks.1: added',
    '  + type: markdown',
    '  + body: Two',
    'blocks.3.url: "https://example.org/a" → "https://b.example"',
  ])
})

test('an object that is added or removed is shown field by field, and lists in it are counted', () => {
  const quiz = { type: 'quiz', passingScore: 70, questions: [{ prompt: 'Why?' }, { prompt: 'How?' }] }
  expect(changeLines('assessments.Reefs', undefined, quiz, 80)).toEqual([
    'assessments.Reefs: added',
    '  + type: quiz',
    '  + passingScore: 70',
    '  + questions: 2 items',
  ])
})

test('of long lines only what differs is shown, and no more lines than asked for', () => {
  const words = (from: number) => Array.from({ length: 200 }, (_, at) => `word${from + at}`).join(' ')
  const texts = ['tides', 'waves'].map((word) => `${words(0)} ${word} ${words(500)}`)
  expect(changeLines('description', texts[0], texts[1], 60, 8)).toEqual([
    'description:',
    '  - …word196 word197 word198 word199 tides word500 word501',
    '    word502 word503…',
    '  + …word196 word197 word198 word199 waves word500 word501',
    '    word502 word503…',
  ])
  expect(changeLines('description', words(0), `${words(0)} end`, 60, 8)).toEqual([
    'description:',
    '  - …word196 word197 word198 word199',
    '  + …word196 word197 word198 word199 end',
  ])
  const many = Array.from({ length: 30 }, (_, at) => `Line ${at}`).join('\n')
  expect(changeLines('body', undefined, many, 60, 3)).toEqual([
    'body:',
    '  + Line 0',
    '  + Line 1',
    '  + Line 2',
    '  … and 27 more lines',
  ])
})

test('the lines give back both texts, whatever these are', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'dd'), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const [long, ending] = ['x'.repeat(60), 'y'.repeat(60)]
      const [, ...all] = changeLines('body', [long, ...before].join('\n'), [ending, ...after].join('\n'), 200)
      if (all.some((line) => line.endsWith('…'))) return
      const texts = (marks: string) =>
        all.filter((line) => marks.includes(line[2] ?? '')).map((line) => line.slice(4))
      expect(texts(' -')).toEqual([long, ...before])
      expect(texts(' +')).toEqual([ending, ...after])
    }),
  )
})

const texts = (field: string, from: unknown, to: unknown) => namedChanges(field, from, to).map(changeText)

test.for([
  ['status', 'draft', 'published', ['status: "draft" → "published"']],
  ['durationMinutes', undefined, 90, ['durationMinutes: none → 90']],
  ['a', { b: 1, c: 2 }, { b: 1, c: 3 }, ['a.c: 2 → 3']],
  [
    'weights',
    [{ name: 'Exam', weight: 60 }],
    [
      { name: 'Exam', weight: 70 },
      { name: 'Essay', weight: 30 },
    ],
    ['weights.Exam: 60 → 70', 'weights.Essay: none → 30'],
  ],
  [
    'modules',
    [{ id: 'mod_1', title: 'Sea', description: '' }],
    [{ title: 'Deep sea', description: '' }],
    ['modules.Sea: "" → none', 'modules.Deep sea: none → ""'],
  ],
  ['modules', [{ title: 'Sea', a: 1, b: 2 }], [], ['modules.Sea: removed']],
  ['tags', ['a', 'b'], ['b', 'c'], ['tags: "a" → none', 'tags: none → "c"']],
  ['tags', ['a', 'b'], ['b', 'a'], ['tags (order): a, b → b, a']],
  ['description', 'x'.repeat(80), 'y', ['description: changed']],
  ['description', '', 'y\nz', ['description: "" → "y\\nz"']],
  ['blocks', [{ type: 'text' }], [{ type: 'text' }, { type: 'code' }], ['blocks: changed']],
  ['weights', null, [{ name: 'Exam', weight: 5 }], ['weights.Exam: none → 5']],
  ['same', { a: [1] }, { a: [1] }, []],
] as const)('a change of %s is told by the names of its values', ([field, from, to, expected]) => {
  expect(texts(field, from, to)).toEqual(expected)
})
