import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { readParquet, writeParquet } from 'parquet-wasm/node'
import { expect } from 'vitest'
import type { EncodedColumn, TableEncoder } from '../../src/tables/column.ts'
import { parquetEncoder } from '../../src/tables/parquet.ts'
import { xlsxEncoder } from '../../src/tables/xlsx.ts'
import { test } from '../helpers/cli.ts'
import { putQuickstart } from '../helpers/quickstart.ts'
import { hasPackage, runPython } from './python.ts'

/** Texts that often break spreadsheets, XML and query engines. */
const hostile = [
  ...['=cmd|"/C calc"!A0', '+1', '-5', '@SUM(A1)', '\t=1', '＝1', 'null', 'NULL', 'NaN', 'TRUE', '#N/A'],
  ...['007', '00012345678901234567', '12345678901234567890', '1e5', '2026-01-31', '3/4', '0x1F'],
  ...[' leading', 'trailing ', ' ', '\n', '\r', 'a\r\nb', 'a\rb', 'a\nb', '\ttab\t'],
  ...['\u0000', 'bell \u0007', '\u001b[31m', '\u007f', '\u0085', '\u009f'],
  ...['\ufffd', '\ufffe', '\uffff', '\ufdd0'],
  ...['_x0041_', '_x000D_', '_X0041_', '<b>&amp;</b>', ']]>', '"quoted"', "O'Neil", 'a,b;c|d'],
  ...['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty'],
  ...['Zoë', 'Ζωή', '祖母', 'زوي', '👩🏽‍🏫', '𠮷', '\u{1d7fe}', '\u202eright to left', 'x'.repeat(32_767)],
]

const columns: readonly EncodedColumn[] = [
  { name: 'id', path: 'id', type: 'string', meaning: 'Id of the learner', nullMeans: null },
  { name: 'text', path: 'profile.text', type: 'string', meaning: '=1+1', nullMeans: 'not set' },
  { name: 'percent', path: 'percent', type: 'percent', unit: 'percent', meaning: 'Grade, 0–100' },
  { name: 'count', path: 'count', type: 'integer' },
  { name: 'passed', path: 'passed', type: 'boolean' },
  { name: 'seen', path: 'seen', type: 'timestamp', unit: 'UTC' },
  { name: 'day', path: 'day', type: 'date' },
]

/** A row for each hostile text, each with other values; every seventh has nulls. */
const rows = hostile.map((text, index) => {
  const has = <Value>(value: Value) => (index % 7 === 6 ? null : value)
  return {
    id: String(index).padStart(5, '0'),
    profile: { text },
    percent: has((index * 100) / 7),
    count: has(index === 3 ? Number.MAX_SAFE_INTEGER : 5 - index),
    passed: has(index % 2 === 0),
    seen: has(new Date(Date.UTC(1999, 11, 31, 23, 59, 59, 997) + index * 86_399_001).toISOString()),
    day: has(new Date(Date.UTC(2024, 1, 27 + index)).toISOString().slice(0, 10)),
  }
})

async function encode(
  create: (columns: readonly EncodedColumn[], sink: (bytes: Uint8Array) => void) => TableEncoder,
): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  const encoder = create(columns, (bytes) => {
    pieces.push(bytes.slice())
  })
  await encoder.rows(rows.slice(0, 10))
  await encoder.rows(rows.slice(10))
  await encoder.end()
  return Buffer.concat(pieces)
}

/** Runs SQL in DuckDB; times are texts, integers that JSON cannot hold as well. */
async function query(sql: string): Promise<Record<string, unknown>[]> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  try {
    return (await connection.runAndReadAll(sql)).getRowObjectsJson()
  } finally {
    connection.closeSync()
  }
}

function inSql(path: string): string {
  return `'${path.replaceAll("'", "''")}'`
}

/** The rows as `parquetSql` shows them. */
const expected = rows.map(({ profile, count, ...row }) => ({
  ...row,
  text: Buffer.from(profile.text).toString('hex').toUpperCase(),
  count: count === null ? null : String(count),
}))

function parquetSql(path: string): string {
  return `select id, hex(encode(text)) as text, percent, count, passed,
    strftime(seen at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ') as seen, strftime(day, '%Y-%m-%d') as day
    from read_parquet(${inSql(path)})`
}

test('DuckDB reads each cell of a Parquet file, in its type', async ({ cli: { cwd: directory } }) => {
  const path = join(directory, 'hostile.parquet')
  writeFileSync(path, await encode(parquetEncoder))
  const types = await query(
    `select column_name, column_type from (describe from read_parquet(${inSql(path)}))`,
  )
  expect(types.map((each) => Object.values(each))).toEqual([
    ['id', 'VARCHAR'],
    ['text', 'VARCHAR'],
    ['percent', 'DOUBLE'],
    ['count', 'BIGINT'],
    ['passed', 'BOOLEAN'],
    ['seen', 'TIMESTAMP WITH TIME ZONE'],
    ['day', 'DATE'],
  ])
  expect(await query(parquetSql(path))).toEqual(
    expected.map(({ id, text, percent, count, passed, seen, day }) => ({
      id,
      text,
      percent,
      count,
      passed,
      seen,
      day,
    })),
  )
})

test('parquet-wasm (arrow-rs) reads each cell of a Parquet file', async ({ cli: { cwd: directory } }) => {
  const read = readParquet(await encode(parquetEncoder))
  const path = join(directory, 'copy.parquet')
  writeFileSync(path, writeParquet(read))
  const copied = await query(parquetSql(path))
  expect(copied).toMatchObject(expected)
})

/** Python programs that print the cells of a workbook as JSON. */
const programs = {
  openpyxl: `
import json, sys, datetime, warnings, openpyxl
warnings.simplefilter('ignore')
book = openpyxl.load_workbook(sys.argv[1])
def shown(cell):
    value = cell.value
    if isinstance(value, datetime.datetime): value = value.isoformat(timespec='milliseconds')
    return [cell.data_type, value]
print(json.dumps({sheet.title: {'frozen': sheet.freeze_panes, 'rows': [[shown(cell) for cell in row] for row in sheet.iter_rows()]} for sheet in book}))`,
  texts: `
import json, re, sys, zipfile
from xml.etree import ElementTree
strings = ElementTree.fromstring(zipfile.ZipFile(sys.argv[1]).read('xl/sharedStrings.xml'))
decoded = [re.sub('_x([0-9A-Fa-f]{4})_', lambda found: chr(int(found[1], 16)), string[0].text) for string in strings]
print(json.dumps(decoded))`,
}

interface Sheet {
  readonly frozen: string | null
  readonly rows: readonly (readonly (readonly [type: string, value: unknown])[])[]
}

test.skipIf(!hasPackage('openpyxl'))(
  'openpyxl reads each cell of a workbook, in its type',
  async ({ cli: { cwd: directory } }) => {
    const path = join(directory, 'hostile.xlsx')
    writeFileSync(path, await encode(xlsxEncoder))
    const { Data, Columns } = runPython(programs.openpyxl, path) as Record<'Data' | 'Columns', Sheet>
    expect([Data.frozen, Columns.frozen]).toEqual(['A2', 'A2'])
    const [header = [], ...cells] = Data.rows
    expect(header.map(([, value]) => value)).toEqual(columns.map(({ name }) => name))
    expect(cells).toHaveLength(rows.length)
    for (const [index, row] of rows.entries()) {
      const { id, percent, count, passed, seen, day } = row
      const cell = (type: string, value: unknown) => (value === null ? ['n', null] : [type, value])
      expect(cells[index]).toEqual([
        ['s', id],
        ['s', expect.any(String)],
        cell('n', percent),
        count !== null && count > 1e15 ? ['s', String(count)] : cell('n', count === 0 ? 0 : count),
        cell('b', passed),
        cell('d', seen?.replace('Z', '') ?? null),
        cell('d', day === null ? null : `${day}T00:00:00.000`),
      ])
    }
    // openpyxl shows plain texts as they are, and leaves escapes (ECMA-376 part 1, 22.9.2.19) to its callers.
    const shown = cells.map((row) => row[1]?.[1])
    expect(shown.filter((text, index) => text === hostile[index]).length).toBeGreaterThan(hostile.length / 2)
    expect(runPython(programs.texts, path)).toEqual(expect.arrayContaining(hostile))
    const [names, first, second] = Columns.rows.map((row) => row.map(([, value]) => value))
    expect(names).toEqual(['name', 'type', 'unit', 'meaning', 'nullMeans'])
    expect(first).toEqual(['id', 'string', null, 'Id of the learner', null])
    expect(second).toEqual(['text', 'string', null, '=1+1', 'not set'])
  },
)

test('DuckDB reads the same values in an export as Parquet as in one as CSV', async ({ cli }) => {
  await putQuickstart(cli)
  for (const noun of ['analytics', 'enrollments', 'progress', 'users']) {
    // Lists are JSON in Parquet, and separated by commas in an export of users as CSV.
    const columns = noun === 'users' ? '--columns email,externalId,role,status,firstName,createdAt' : ''
    expect((await cli.run(`${noun} export ${columns} --file ${noun}.parquet`)).stderr).toContain('Exported')
    expect((await cli.run(`${noun} export ${columns} --file ${noun}.csv --raw`)).code).toBe(0)
    const parquet = join(cli.cwd, `${noun}.parquet`)
    const csv = inSql(join(cli.cwd, `${noun}.csv`))
    const described = await query(`describe from read_parquet(${inSql(parquet)})`)
    // Each column is compared as DuckDB reads it from text in the type that Parquet has.
    const cast = described.map(
      ({ column_name: name, column_type: type }) => `cast("${name}" as ${type}) as "${name}"`,
    )
    const texts = `select ${cast.join(', ')} from read_csv(${csv}, all_varchar = true, header = true)`
    const [difference] = await query(
      `select (select count(*) from (from read_parquet(${inSql(parquet)}) except all (${texts}))) as more,
        (select count(*) from ((${texts}) except all from read_parquet(${inSql(parquet)}))) as fewer,
        (select count(*) from read_parquet(${inSql(parquet)})) as rows`,
    )
    expect([noun, difference]).toEqual([
      noun,
      { more: '0', fewer: '0', rows: expect.stringMatching(/^[1-9]/) },
    ])
  }
  expect(readFileSync(join(cli.cwd, 'users.parquet')).subarray(0, 4).toString()).toBe('PAR1')
})
