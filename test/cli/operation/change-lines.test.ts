import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changeLines } from '../../../src/cli/operation/change-lines.ts'

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

test('a long line is wrapped, and continues below its mark', () => {
  expect(shown('The sea is deep.', `The sea is ${'very '.repeat(14)}deep.`, 40)).toBe(`body:
  - The sea is deep.
  + The sea is very very very very very
    very very very very very very very
    very very deep.`)
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
