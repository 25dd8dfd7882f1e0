import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { tsv } from '../../../../src/cli/output/formats/delimited.ts'
import { json, jsonLines, loadYaml } from '../../../../src/cli/output/formats/documents.ts'
import type { Format } from '../../../../src/cli/output/formats/format.ts'

const yaml = await loadYaml()
const lines = (text: string): unknown =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
const row = fc.dictionary(fc.string(), fc.jsonValue({ depthSize: 'xsmall' }), {
  minKeys: 1,
  maxKeys: 4,
  noNullPrototype: true,
})
const pages = fc.array(fc.array(row, { maxLength: 3 }), { maxLength: 3 })

const documents: [string, Format, (text: string) => unknown][] = [
  ['JSON', json, JSON.parse],
  ['JSON lines', jsonLines, lines],
  ['YAML', yaml, (text) => parse(text)],
]

test.each([
  ['JSON', json],
  ['JSON lines', jsonLines],
])('an object with iterable members is one %s document in pieces, as with lists', (_, { one, pieces }) => {
  fc.assert(
    fc.property(row, fc.array(row), ({ list: _list, ...others }, items) => {
      const lazy = {
        ...others,
        list: { [Symbol.iterator]: () => items.values() },
        none: undefined,
        last: [1],
      }
      expect([...(pieces?.(lazy) ?? [])].join('')).toBe(one({ ...others, list: items, last: [1] }))
      expect(pieces?.({ ...others, list: items })).toBeUndefined()
    }),
  )
})

test('a list that is longer than a piece is one document', { tags: ['slow'] }, () => {
  const items = Array.from({ length: 5000 }, (_, id) => ({ id, title: `Course ${id}` }))
  const pieces = [...(json.pieces?.({ list: new Set(items) }) ?? [])]
  expect(pieces.length).toBeGreaterThan(3)
  expect(pieces.join('')).toBe(json.one({ list: items }))
  expect(parse(yaml.one({ list: new Set(items) }))).toEqual({ list: items })
})

test.each(documents)(
  'a list in pages is one %s document',
  (_, format, read) => {
    fc.assert(
      fc.property(pages, (given) => {
        const list = format.list()
        const text = given.map((page) => list.rows(page)).join('') + list.end()
        // As text, because JSON has no -0.
        expect(JSON.stringify(read(text))).toBe(JSON.stringify(given.flat()))
      }),
    )
  },
  30_000,
)

test('JSON holds no character that a terminal would obey', () => {
  const text = json.one({ title: '\u001b[31m\u009b31m\u007f' })
  expect(text).toBe('{\n  "title": "\\u001b[31m\\u009b31m\\u007f"\n}\n')
  expect(JSON.parse(text)).toEqual({ title: '\u001b[31m\u009b31m\u007f' })
})

test.each([
  ['line separators', { title: 'one\u2028two\u2029three\nfour' }],
  ['controls', { 'na\u0085me': '\u001b[31m\u009b31m\u007f\ttab\r' }],
  ['half a pair', { title: '\ud83c!' }],
  ['marks', { title: '\ufeffmark\ufffe\uffff' }],
])('JSON and YAML give back %s as they were', (_, value) => {
  for (const [, format, read] of documents) {
    const list = format.list()
    const text = list.rows([value]) + list.end()
    expect([read(text)].flat()).toEqual([value])
    expect(read(format.one(value))).toEqual(format === jsonLines ? [value] : value)
  }
})

test('every character of YAML is printable', { tags: ['slow'] }, () => {
  const texts: string[] = []
  for (let code = 0; code < 0x10000; ) {
    // One text per block from Latin to presentation forms, because neighbours behave alike.
    const many = code >= 0x3000 && code < 0xf900 ? 64 : 1
    texts.push(Array.from({ length: many }, (_, index) => `a${String.fromCharCode(code + index)}b`).join(''))
    code += many
  }
  const text = yaml.one(texts)
  // Printable in YAML 1.2 (§5.1), without the additional line ends of YAML 1.1.
  expect(text).toMatch(/^[\n\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/)
  expect(parse(text)).toEqual(texts)
})

test.each(['yes', 'No', 'on', '12:30:45', '0o17', '017', '=', '<<', '~', '1_000'])(
  'YAML quotes %s, which readers of YAML 1.1 take for something else',
  (text) => {
    expect(yaml.one({ text })).toBe(`text: "${text}"\n`)
  },
)

test('tab-separated text is a line a record, whatever is in it', () => {
  const value = { id: 'x', title: 'a\tb\\n\nc\r\u001b[0m', tags: ['p', 'q'], none: null }
  expect(tsv(['id', 'title', 'tags', 'none'].map((path) => ({ path, label: path }))).one(value)).toBe(
    'x\ta\\tb\\\\n\\nc\\r\\x1b[0m\tp, q\t\n',
  )
})
