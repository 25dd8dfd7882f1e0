import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addGuard, csvRecord, removeGuard } from '../../src/codec/csv.ts'

const read = (text: string): string[][] => parse(text, { record_delimiter: '\r\n' })

/** Texts that often begin like a formula and contain quotes, commas, line ends and guards. */
const hostile = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom(...'\'=+-@\t\r\n",;|＝＋－＠a1'),
  }),
)

test.for([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@sum', "'@sum"],
  ['＝1', "'＝1"],
  ['＠x', "'＠x"],
  ["'=1", "''=1"],
  ["''+1", "'''+1"],
  ["'hello", "'hello"],
  ['hello=', 'hello='],
  ['', ''],
])('the text %j is written as %j', ([text = '', cell]) => {
  expect(csvRecord([text], false)).toBe(cell === '' ? '""\r\n' : `${cell}\r\n`)
  expect(removeGuard(cell ?? '')).toBe(text)
})

test('line ends at the start of a text are guarded and quoted', () => {
  expect(csvRecord(['\r\n=1', '\nx'], false)).toBe('"\'\r\n=1","\'\nx"\r\n')
})

test('numbers, truth values and nothing are never guarded', () => {
  expect(csvRecord([-1, 0.5, true, false, null, 'x'], false)).toBe('-1,0.5,true,false,,x\r\n')
})

test('raw writes every text as it is', () => {
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1 }), (cells) => {
      expect(read(csvRecord(cells, true))).toEqual([cells])
    }),
  )
})

test('another reader finds the cells, with the guard where they need it', () => {
  fc.assert(
    fc.property(fc.array(fc.array(hostile, { minLength: 3, maxLength: 3 }), { minLength: 1 }), (rows) => {
      const found = read(rows.map((cells) => csvRecord(cells, false)).join(''))
      expect(found).toEqual(rows.map((cells) => cells.map(addGuard)))
      expect(found.map((cells) => cells.map(removeGuard))).toEqual(rows)
    }),
  )
})

test('no cell that is written begins as a formula does, whatever separates the cells of its reader', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const [[cell = ''] = []] = read(csvRecord([text, ''], false))
      expect(cell).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
      for (const part of cell.split(/[;|\t]/)) expect(part).not.toMatch(/^[=+\-@＝＋－＠]/)
    }),
  )
})
