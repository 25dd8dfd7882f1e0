import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createNameTable } from '../../../../src/cli/records/sources/name-table.ts'

test('a table of names knows the first line of each, however many there are', { tags: ['slow'] }, () => {
  const name = fc.oneof(fc.string(), fc.nat(3000).map(String))
  const rows = fc.array(fc.array(name, { minLength: 1, maxLength: 2 }), { maxLength: 50 })
  fc.assert(
    fc.property(rows, (some) => {
      const [table, known] = [createNameTable(0), new Map<string, number>()]
      for (const [index, names] of some.entries()) {
        const before = names.map((each) => known.get(each)).find((line) => line !== undefined)
        expect(table.add(names, index + 1)).toBe(before)
        if (before === undefined) for (const each of names) known.set(each, index + 1)
      }
    }),
  )
  const table = createNameTable(0)
  for (let line = 1; line <= 20_000; line += 1) expect(table.add([`name ${line}`], line)).toBe(undefined)
  for (let line = 1; line <= 20_000; line += 1) expect(table.add(['new', `name ${line}`], 1)).toBe(line)
})
