import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csv } from '../../../../src/cli/output/formats/delimited.ts'

const named = (...paths: string[]) => paths.map((path) => ({ path, label: path }))

/** Removes the guards against formulas, as our readers do. */
function unguard(cell: string): string {
  return cell.replace(/(^|[;|\t])'(?='*[=+\-@＝＋－＠])|^'(?='*[\t\r\n])/g, '$1')
}

test.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['line\nbreak', '"line\nbreak"'],
  ['bare\rreturn', '"bare\rreturn"'],
  ['=1+1', "'=1+1"],
  ["'=1+1", "''=1+1"],
  ["''@x", "'''@x"],
  ["'quoted'", "'quoted'"],
  ['-5', "'-5"],
  ['\tx', '"\'\tx"'],
  [';=1', '";\'=1"'],
  ['a|@b', '"a|\'@b"'],
  ['a; =b', '"a; =b"'],
  ['\nx', '"\'\nx"'],
  ['＝1', "'＝1"],
  [-5, '-5'],
  [1.5, '1.5'],
  [true, 'true'],
  // Most readers skip an empty line.
  [null, '""'],
  [undefined, '""'],
  ['', '""'],
  [['a', 'b'], '"[""a"",""b""]"'],
  [{ a: 1 }, '"{""a"":1}"'],
])('%j is written as %j', (value, cell) => {
  expect(csv(named('c')).one({ c: value })).toBe(`c\r\n${cell}\r\n`)
})

test('every text comes back as it was from a reader that removes the guards', () => {
  const character = fc.constantFrom(...'\'"=+-@,;|\t\r\n ＝＋－＠aé🎉'.split(/(?:)/u))
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: character }))
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { minLength: 1 }), (rows) => {
      const list = csv(named('a', 'b')).list()
      const written = list.rows(rows.map(([a, b]) => ({ a, b }))) + list.end()
      const read: string[][] = parse(written, { fromLine: 2, recordDelimiter: '\r\n' })
      expect(read.map((cells) => cells.map(unguard))).toEqual(rows)
    }),
  )
})
