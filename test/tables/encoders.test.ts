import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import type { EncodedColumn, TableEncoder } from '../../src/tables/column.ts'
import { parquetEncoder } from '../../src/tables/parquet.ts'
import { xlsxEncoder } from '../../src/tables/xlsx.ts'
import { slowRows } from '../helpers/slow-rows.ts'

const columns: readonly EncodedColumn[] = [
  { name: 'id', path: 'id', type: 'string' },
  { name: 'score', path: 'score.percent', type: 'percent' },
  { name: 'count', path: 'count', type: 'integer' },
  { name: 'passed', path: 'passed', type: 'boolean' },
  { name: 'seen', path: 'seen', type: 'timestamp' },
  { name: 'day', path: 'day', type: 'date' },
]

async function encode(
  create: (columns: readonly EncodedColumn[], sink: (bytes: Uint8Array) => void) => TableEncoder,
  wanted: readonly EncodedColumn[],
  batches: readonly (readonly unknown[])[],
): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  const encoder = create(wanted, (bytes) => pieces.push(bytes.slice()))
  for (const batch of batches) await encoder.rows(batch)
  await encoder.end()
  return Buffer.concat(pieces)
}

async function readParquet(bytes: Buffer) {
  const file = new Uint8Array(bytes).buffer
  return { rows: await parquetReadObjects({ file }), metadata: parquetMetadata(file) }
}

test('Parquet has each value in its type, over several batches', async () => {
  const row = {
    id: '00012345678901234567',
    score: { percent: 71.5 },
    count: 3,
    passed: true,
    seen: '2026-01-31T09:30:00.123Z',
    day: '2026-01-31',
  }
  const { rows } = await readParquet(await encode(parquetEncoder, columns, [[row], [{ id: '=cmd|x' }]]))
  expect(rows).toEqual([
    {
      id: '00012345678901234567',
      score: 71.5,
      count: 3n,
      passed: true,
      seen: new Date('2026-01-31T09:30:00.123Z'),
      day: new Date('2026-01-31'),
    },
    { id: '=cmd|x', score: null, count: null, passed: null, seen: null, day: null },
  ])
})

test('Parquet without rows has its columns', async () => {
  const { rows, metadata } = await readParquet(await encode(parquetEncoder, columns, []))
  expect(rows).toEqual([])
  expect(metadata.schema.map(({ name }) => name).slice(1)).toEqual(columns.map(({ name }) => name))
})

test('Parquet is written a row group at a time', { tags: ['slow'] }, async () => {
  const sizes: number[] = []
  const encoder = parquetEncoder([{ name: 'text', path: 'text' }], (bytes) => {
    sizes.push(bytes.length)
  })
  const rows = Array.from({ length: 1000 }, (_, index) => ({ text: `${index} `.repeat(200) }))
  for (let batch = 0; batch < 100; batch += 1) await encoder.rows(rows)
  expect(sizes.length).toBeGreaterThan(1)
  await encoder.end()
})

test.each([
  ['a number among texts', [{ value: 'a' }, { value: 1 }], ['a', '1']],
  ['whole numbers', [{ value: 1 }, { value: 2 }], [1n, 2n]],
  ['whole numbers and others', [{ value: 1 }, { value: 2.5 }], [1, 2.5]],
  ['integers beyond 64 bits', [{ value: 2n ** 64n }], ['18446744073709551616']],
  ['truth values', [{ value: true }, {}], [true, null]],
  ['lists', [{ value: ['a', 1] }], ['["a",1]']],
])('a column without a type gets one from its values: %s', async (_, rows, read) => {
  const file = await encode(parquetEncoder, [{ name: 'value', path: 'value' }], [rows])
  expect((await readParquet(file)).rows.map(({ value }) => value)).toEqual(read)
})

test('a time that milliseconds cannot hold makes its column text', async () => {
  const rows = [{ seen: '2026-01-31T09:30:00.123456Z' }, { seen: '2026-01-31T09:30:00.123Z' }]
  const file = await encode(parquetEncoder, [{ name: 'seen', path: 'seen', type: 'timestamp' }], [rows])
  expect((await readParquet(file)).rows).toEqual(rows)
})

test('Parquet has the values of each row group, whatever their lengths', { tags: ['slow'] }, async () => {
  const rowOf = (index: number) => ({
    id: index % 7 === 0 ? null : `ñ🙂\ufeff${'x'.repeat(index % 40)}${index}`,
    score: { percent: index % 5 === 0 ? null : index / 7 },
    count: index % 3 === 0 ? 9_007_199_254_740_993n + BigInt(index) : index,
    passed: index % 11 === 0 ? null : index % 2 === 0,
    seen: new Date(index * 1000).toISOString(),
    day: '2026-01-31',
  })
  const all = Array.from({ length: 80_000 }, (_, index) => rowOf(index))
  const { rows, metadata } = await readParquet(await encode(parquetEncoder, columns, [all]))
  expect(metadata.row_groups.length).toBeGreaterThan(1)
  const wrong = rows.filter((row, index) => {
    const { id, score, count, passed, seen } = rowOf(index)
    return (
      row['id'] !== id ||
      row['score'] !== score.percent ||
      row['count'] !== BigInt(count) ||
      row['passed'] !== passed ||
      row['seen'].toISOString() !== seen
    )
  })
  expect(rows).toHaveLength(all.length)
  expect(wrong.slice(0, 1)).toEqual([])
})

const groupRows = 65_536

test.each([
  ['integer', 1, 'x'],
  ['integer', 1, 1.5],
  ['integer', 1, 2n ** 63n],
  ['number', 1.5, true],
  ['number', 1.5, 2n ** 60n],
  ['boolean', true, 1],
  ['boolean', true, 'true'],
])(
  'a value that does not fit the type of an earlier row group is an error with its place: %s',
  async (type, first, later) => {
    const rows = Array.from({ length: groupRows }, () => ({ value: first }))
    const work = encode(parquetEncoder, [{ name: 'value', path: 'value' }], [rows, [{ value: later }]])
    await expect(work).rejects.toThrow(
      `Cannot write row ${groupRows + 1}, column "value" as ${type}: it is ${later}`,
    )
  },
)

test.each(slowRows(['yesterday', '2026-01-31T09:30:00.123456Z', 1]))(
  '%s among later times is an error',
  async (seen) => {
    const rows = Array.from({ length: groupRows }, () => ({ seen: '2026-01-31T09:30:00.123Z' }))
    const work = encode(
      parquetEncoder,
      [{ name: 'seen', path: 'seen', type: 'timestamp' }],
      [rows, [{ seen }]],
    )
    await expect(work).rejects.toThrow(
      `Cannot write row ${groupRows + 1}, column "seen" as timestamp: it is ${seen}`,
    )
  },
)

test.each([
  ['a', 1, '1'],
  [null, 1, '1'],
  [['a'], { b: 2 }, '{"b":2}'],
])(
  'a column that is text, or empty, in the first row group is text later: %j, %j',
  async (first, later, text) => {
    const rows = Array.from({ length: groupRows }, () => ({ value: first }))
    const file = await encode(parquetEncoder, [{ name: 'value', path: 'value' }], [rows, [{ value: later }]])
    expect((await readParquet(file)).rows.at(-1)).toEqual({ value: text })
  },
)

test.each([parquetEncoder, xlsxEncoder])('half of a surrogate pair is an error: $name', async (create) => {
  await expect(encode(create, columns, [[{ id: 'ok' }, { id: 'a\ud800' }]])).rejects.toThrow(
    /Cannot write row 2, column "id" as (Parquet|XLSX): the text has half of a surrogate pair/,
  )
})

test('XLSX refuses a text that is longer than a cell', async () => {
  const longest = 'x'.repeat(32_767)
  await encode(xlsxEncoder, columns, [[{ id: longest }]])
  await expect(encode(xlsxEncoder, columns, [[{ id: `${longest}x` }]])).rejects.toThrow(
    'Cannot write row 1, column "id" as XLSX: the text has 32,768 characters, a cell holds 32,767',
  )
})

test('XLSX refuses more rows than it holds, with their number', { tags: ['slow'] }, async () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ name: `c${index}`, path: `c${index}` }))
  const rows = Array.from({ length: 10_000 }, () => ({}))
  const encoder = xlsxEncoder(many, () => {})
  await encoder.rows(rows)
  await encoder.rows(rows)
  await expect(encoder.rows([{}])).rejects.toThrow('XLSX has at most 20,000 rows with 100 columns')
})
