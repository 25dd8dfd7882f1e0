import type { ColumnType, EncodedColumn } from '../../tables/column.ts'
import { type DatasetTable, datasetTables } from '../../tables/dictionary.ts'
import { keptColumnsOf } from '../pseudonyms/pseudonyms.ts'
import { columnsOf, type DatasetFormat, type Manifest, writeText } from './dataset-files.ts'

interface LoadedTable {
  readonly name: string
  readonly key: readonly string[]
  readonly references: Readonly<Record<string, string>>
  readonly columns: readonly EncodedColumn[]
  readonly files: readonly { readonly run: number; readonly path: string }[]
}

interface Names {
  readonly types: Readonly<Record<ColumnType, string>>
  readonly column: (name: string) => string
  readonly table: (name: string) => string
}

const inDoubleQuotes = (name: string) => `"${name}"`

const duckdb: Names = {
  types: {
    string: 'varchar',
    integer: 'bigint',
    number: 'double',
    percent: 'double',
    boolean: 'boolean',
    timestamp: 'timestamptz',
    date: 'date',
  },
  column: inDoubleQuotes,
  table: inDoubleQuotes,
}

const postgres: Names = {
  types: { ...duckdb.types, string: 'text', number: 'double precision', percent: 'double precision' },
  column: inDoubleQuotes,
  table: (name) => `learnctl.${inDoubleQuotes(name)}`,
}

const bigQuery: Names = {
  types: {
    string: 'STRING',
    integer: 'INT64',
    number: 'FLOAT64',
    percent: 'FLOAT64',
    boolean: 'BOOL',
    timestamp: 'TIMESTAMP',
    date: 'DATE',
  },
  column: (name) => `\`${name}\``,
  table: (name) => `\`learnctl.${name}\``,
}

const rowsOf = (name: string) => `${name}_changes`

function columnList({ columns }: LoadedTable, { column }: Names): string {
  return columns.map(({ name }) => column(name)).join(', ')
}

function typedColumns({ columns }: LoadedTable, { column, types }: Names): string {
  return columns.map(({ name, type = 'string' }) => `  ${column(name)} ${types[type]}`).join(',\n')
}

function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}

/** Returns the view of the rows that are there: the newest of each key, unless it or a row that it refers to is gone. */
function viewOf(table: LoadedTable, names: Names): string {
  const { column } = names
  const own = table.columns.map(({ name }) => name).filter((name) => !name.startsWith('change'))
  const references = Object.entries(table.references).map(
    ([field, to]) => `\n  and ${column(field)} in (select ${column('id')} from ${names.table(to)})`,
  )
  const changes = names.table(rowsOf(table.name))
  return `create or replace view ${names.table(table.name)} as
select ${own.map(column).join(', ')}
from ${changes}
where ${column('changeState')} = 'current'
  and ${column('changeNumber')} in (select max(${column('changeNumber')}) from ${changes} group by ${table.key.map(column).join(', ')})${references.join('')};
`
}

const userColumns = ['userId', 'learnerId']

/** Rows that say that they are erased stay. */
function erasureOf(tables: readonly LoadedTable[], names: Names): string {
  const { column } = names
  const erased = `select ${column('id')} from ${names.table(rowsOf('users'))} where ${column('changeState')} = 'erased'`
  return tables
    .flatMap((table) => {
      const user =
        table.name === 'users' ? 'id' : table.columns.find(({ name }) => userColumns.includes(name))?.name
      if (user === undefined) return []
      const others = table.name === 'users' ? ` and ${column('changeState')} <> 'erased'` : ''
      return [
        `delete from ${names.table(rowsOf(table.name))} where ${column(user)} in (${erased})${others};\n`,
      ]
    })
    .join('')
}

/** Reads files in the current folder. */
function duckdbScript(tables: readonly LoadedTable[], format: DatasetFormat): string {
  const load = (table: LoadedTable) => {
    const files = `[${table.files.map(({ path }) => text(path)).join(', ')}]`
    const list = columnList(table, duckdb)
    const types = table.columns
      .map(({ name, type = 'string' }) => `${text(name)}: ${text(duckdb.types[type])}`)
      .join(', ')
    const readers = {
      parquet: `read_parquet(${files}, union_by_name = true)`,
      csv: `read_csv(${files}, header = true, delim = ',', quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, columns = {${types}})`,
      jsonl: `read_json(${files}, format = 'newline_delimited', columns = {${types}})`,
    }
    return `create or replace table ${duckdb.table(rowsOf(table.name))} (
${typedColumns(table, duckdb)}
);
insert into ${duckdb.table(rowsOf(table.name))} select ${list} from ${readers[format]};
`
  }
  return `-- DuckDB: run it in this folder, with: duckdb academy.duckdb < load.sql
-- ${viewsText}
begin;
${tables.map(load).join('')}
${erasureOf(tables, duckdb)}
${tables.map((table) => viewOf(table, duckdb)).join('\n')}
commit;
`
}

const viewsText =
  'The views users, courses, lessons, enrollments, progress and grades have the current rows; the tables …_changes all of them.'

/** Returns the script for psql, which adds the runs that are not there yet. Parquet is not a format of PostgreSQL. */
function postgresScript(tables: readonly LoadedTable[], { id, format, runs }: Manifest): string {
  if (format === 'parquet') {
    const fault = 'PostgreSQL does not read Parquet: write the data set with -o csv'
    return `-- ${fault}
\\set ON_ERROR_STOP on
do $$ begin raise exception '${fault}'; end $$;
`
  }
  const loadFile = (table: LoadedTable, path: string) => {
    const name = postgres.table(rowsOf(table.name))
    const list = columnList(table, postgres)
    if (format === 'csv')
      return `\\copy ${name} (${list}) from ${text(path)} with (format csv, header true)\n`
    // Each line is one value: no line has these characters.
    return `\\copy lines from ${text(path)} with (format csv, quote e'\\x01', delimiter e'\\x02')
insert into ${name} (${list}) select ${list} from lines, jsonb_populate_record(null::${name}, line::jsonb);
truncate lines;
`
  }
  const load = runs.map(({ number }) => {
    const files = tables.flatMap((table) =>
      table.files.filter(({ run }) => run === number).map(({ path }) => loadFile(table, path)),
    )
    const which = `dataset = ${text(id)} and run = ${number}`
    return `select not exists (select from learnctl.dataset_runs where ${which}) as missing \\gset
\\if :missing
${files.join('')}insert into learnctl.dataset_runs (dataset, run) values (${text(id)}, ${number});
\\endif
`
  })
  const create = tables.map(
    (table) =>
      `create table if not exists ${postgres.table(rowsOf(table.name))} (\n${typedColumns(table, postgres)}\n);\n`,
  )
  return `-- PostgreSQL: run it in this folder, with: psql -f load.postgresql.sql "$DATABASE_URL"
-- It loads into the schema learnctl, and adds only the runs that are not there yet.
-- ${viewsText}
\\set ON_ERROR_STOP on
set client_min_messages = warning;
begin;
create schema if not exists learnctl;
create table if not exists learnctl.dataset_runs (dataset text, run bigint, primary key (dataset, run));
${create.join('')}select exists (select from learnctl.dataset_runs where dataset <> ${text(id)}) as other \\gset
\\if :other
truncate ${[...tables.map(({ name }) => postgres.table(rowsOf(name))), 'learnctl.dataset_runs'].join(', ')};
\\endif
${format === 'jsonl' ? 'create temporary table lines (line text) on commit drop;\n' : ''}${load.join('')}
${erasureOf(tables, postgres)}
${tables.map((table) => viewOf(table, postgres)).join('\n')}
-- Without statistics, PostgreSQL joins the views row by row.
analyze ${tables.map(({ name }) => postgres.table(rowsOf(name))).join(', ')};
commit;
`
}

/** Reads files from a bucket. */
function bigQueryScript(tables: readonly LoadedTable[], format: DatasetFormat): string {
  const options = {
    parquet: "format = 'PARQUET'",
    // BigQuery refuses control characters in CSV otherwise.
    csv: "format = 'CSV', skip_leading_rows = 1, allow_quoted_newlines = true, preserve_ascii_control_characters = true",
    jsonl: "format = 'JSON'",
  }
  const load = tables.map(
    (table) => `load data overwrite ${bigQuery.table(rowsOf(table.name))} (
${typedColumns(table, bigQuery)}
)
from files (${options[format]}, uris = [
${table.files.map(({ path }) => `  'gs://BUCKET/${path}'`).join(',\n')}
]);
`,
  )
  return `-- BigQuery: copy this folder to a bucket, put its name in place of BUCKET, and run:
-- bq mk --dataset learnctl; bq query --use_legacy_sql=false < load.bigquery.sql
-- ${viewsText}
${load.join('')}
${erasureOf(tables, bigQuery)}
${tables.map((table) => viewOf(table, bigQuery)).join('\n')}`
}

const mediaTypes: Readonly<Record<DatasetFormat, string>> = {
  parquet: 'application/vnd.apache.parquet',
  csv: 'text/csv',
  jsonl: 'application/x-ndjson',
}

const fieldTypes = {
  string: 'string',
  integer: 'integer',
  number: 'number',
  percent: 'number',
  boolean: 'boolean',
  timestamp: 'datetime',
  date: 'date',
} as const

export async function writeDescription(directory: string, manifest: Manifest): Promise<void> {
  const shown = tablesOf(manifest)
  const tables = shown.map((table): LoadedTable => {
    const files = manifest.runs.flatMap(({ number, files }) =>
      files.filter((file) => file.table === table.name).map(({ path }) => ({ run: number, path })),
    )
    return {
      name: table.name,
      key: table.key,
      references: table.references,
      columns: columnsOf(table),
      files,
    }
  })
  await writeText(directory, 'schema.json', `${JSON.stringify(packageOf(manifest, shown), null, 2)}\n`)
  await writeText(directory, 'load.sql', duckdbScript(tables, manifest.format))
  await writeText(directory, 'load.postgresql.sql', postgresScript(tables, manifest))
  await writeText(directory, 'load.bigquery.sql', bigQueryScript(tables, manifest.format))
}

export function tablesOf({ pseudonyms }: Pick<Manifest, 'pseudonyms'>): readonly DatasetTable[] {
  if (!pseudonyms) return datasetTables
  return datasetTables.map((table) => ({ ...table, columns: keptColumnsOf(table, pseudonyms.times) }))
}

/** Returns the descriptor of the files (Data Package 2.0, Table Schema 2.0: https://datapackage.org/standard). */
function packageOf({ id, platform, format, runs, pseudonyms }: Manifest, tables: readonly DatasetTable[]) {
  return {
    $schema: 'https://datapackage.org/profiles/2.0/datapackage.json',
    name: 'learnctl-dataset',
    id,
    title: `Data set of ${platform}`,
    description:
      'Each file has the rows that a run added. Of the rows with the same recordKey, the one with the highest changeNumber counts; it is gone unless its changeState is current, and so is a row that refers to one that is gone. load.sql has this as views.',
    created: runs.at(-1)?.at,
    ...(pseudonyms && { pseudonymised: true }),
    resources: tables.map((table) => ({
      name: table.name,
      description: table.says,
      path: runs.flatMap(({ files }) =>
        files.filter((file) => file.table === table.name).map(({ path }) => path),
      ),
      format,
      mediatype: mediaTypes[format],
      ...(format !== 'parquet' && { encoding: 'utf-8' }),
      type: 'table',
      schema: {
        $schema: 'https://datapackage.org/profiles/2.0/tableschema.json',
        fields: columnsOf(table).map((column) => fieldOf(column, table.key)),
        missingValues: [''],
        primaryKey: ['changeNumber'],
        recordKey: table.key,
        foreignKeys: Object.entries(table.references).map(([field, resource]) => ({
          fields: [field],
          reference: { resource, fields: ['id'] },
        })),
      },
    })),
  }
}

/** Columns other than those of the key are empty in the row of a removed record. */
function fieldOf({ name, type = 'string', meaning, unit, nullMeans }: EncodedColumn, key: readonly string[]) {
  const isRequired = key.includes(name) || name === 'changeNumber' || name === 'changeState'
  return {
    name,
    type: fieldTypes[type],
    ...(meaning !== undefined && { description: meaning }),
    ...(unit !== undefined && unit !== null && { unit }),
    ...(nullMeans !== undefined && nullMeans !== null && { nullMeans }),
    ...(isRequired && { constraints: { required: true } }),
  }
}
