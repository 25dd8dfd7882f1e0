import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CsvCounter } from '../../../src/cli/export/learner-export.ts'
import { addGuard, csvRecord } from '../../../src/codec/csv.ts'

function counted(text: string, pieceBytes = text.length) {
  const counter = new CsvCounter()
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) counter.count(bytes.subarray(at, at + pieceBytes))
  counter.end()
  return { records: counter.records, guarded: counter.guarded }
}

const cell = fc.oneof(
  fc.string({ unit: fc.constantFrom(...`'"=+-@,;|a\r\n\t＝`), maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 90 }),
)
const rows = fc
  .integer({ min: 2, max: 5 })
  .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1 }))

test('as many records are counted as a CSV reader finds, and every place that got the guard', () => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 200 }), (rows, pieceBytes) => {
      const text = rows.map((row) => csvRecord(row, false)).join('')
      expect(counted(text, pieceBytes)).toEqual({
        records: parse(text, { record_delimiter: '\r\n' }).length,
        guarded: rows.flat().reduce((sum, text) => sum + addGuard(text).length - text.length, 0),
      })
    }),
  )
})

test('a byte order mark is no part of the first cell', () => {
  const text = '\ufeff"a\n",b\r\n\'=1,"\'=2,"\r\n'
  for (const pieceBytes of [1, 2, 5, 100])
    expect(counted(text, pieceBytes)).toEqual({ records: 2, guarded: 2 })
  expect(counted("\ufeff'=a,b\r\n1,2\r\n")).toEqual({ records: 2, guarded: 1 })
})

test('a last record without its line end counts', () => {
  expect(counted('id,name\r\n1,Ada\r\n2,"Bob"')).toEqual({ records: 3, guarded: 0 })
})
