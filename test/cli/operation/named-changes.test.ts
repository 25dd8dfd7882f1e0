import { describe, expect, test } from 'vitest'
import { changeText, namedChanges } from '../../../src/cli/operation/differences.ts'

const texts = (field: string, from: unknown, to: unknown) => namedChanges(field, from, to).map(changeText)

describe('a change', () => {
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
  ] as const)('of %s is told by the names of its values', ([field, from, to, expected]) => {
    expect(texts(field, from, to)).toEqual(expected)
  })
})
