import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCsvCounter } from '../../../src/cli/export/csv-bytes.ts'
import { addGuard, csvRecord } from '../../../src/codec/csv.ts'

function counted(text: string, pieceBytes = text.length, separator = ',') {
  const counter = createCsvCounter(separator)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) counter.count(bytes.subarray(at, at + pieceBytes))
  counter.end()
  return { records: counter.records(), guarded: counter.guarded() }
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

test('cells are told by the separator that there is', () => {
  for (const separator of [';', '\t', '|']) {
    const text = ['a;b;c', "1;'=1+1;2,'=2", '"x;\n";"\'-y";\'@z', ''].join('\n').replaceAll(';', separator)
    for (const pieceBytes of [1, 7, text.length]) {
      expect(counted(text, pieceBytes, separator)).toEqual({ records: 3, guarded: 3 })
    }
  }
})

test('quotes count at the beginning of a cell alone, which may be behind a byte order mark', () => {
  const text = '\ufeff"a\n","b"\n5" x,\'=1\n"""\n","\'=2"\n'
  for (const pieceBytes of [1, 2, 5, 100]) {
    for (const tail of ['', '1,2\n'.repeat(40)]) {
      const records = 3 + tail.length / 4
      expect(counted(text + tail, pieceBytes)).toEqual({ records, guarded: 2 })
    }
  }
  expect(counted('\ufeff"\'=a",b\n1,2\n')).toEqual({ records: 2, guarded: 1 })
})

test('a last record without its line end counts', () => {
  expect(counted('id,name\r\n1,Ada\r\n2,"Bob"')).toEqual({ records: 3, guarded: 0 })
})

test('nothing has no records', () => {
  expect(counted('')).toEqual({ records: 0, guarded: 0 })
})
