import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { documentOf } from '../../../../src/cli/records/sources/course.ts'
import { moduleNamed, moduleNames } from '../../../../src/contract/known-ids.ts'

describe('a document', () => {
  test('has lessons in the order of the file, and a number only where that does not tell their place', () => {
    const course = { externalId: 'a', title: 'A', modules: [{ title: 'One' }, { title: 'Two' }] }
    const lesson = (title: string, module: string | null, order: number) => ({ title, module, order })
    const lessons = [lesson('first', null, 4), lesson('second', 'One', 9), lesson('third', 'Two', 11)]
    expect(documentOf({ course, lessons })).toEqual({
      externalId: 'a',
      title: 'A',
      modules: [
        { title: 'One', lessons: [{ title: 'second' }] },
        { title: 'Two', lessons: [{ title: 'third' }] },
      ],
      lessons: [{ title: 'first', order: 1 }],
    })
  })
})

describe('modules', () => {
  test('have one name each, which is found again', () => {
    const titles = fc.array(fc.constantFrom('1', '2', '3', 'A', 'B'), { maxLength: 6 })
    fc.assert(
      fc.property(titles, (all) => {
        const modules = all.map((title) => ({ title }))
        const names = moduleNames(modules)
        expect(new Set(names).size).toBe(all.length)
        expect(names.map((name) => moduleNamed(modules, name))).toEqual([...all.keys()])
      }),
    )
  })
})
