import type { EncodedColumn } from '../../tables/column.ts'
import { type DatasetTable, datasetTables } from '../../tables/dataset-tables.ts'
import { keptColumnsOf } from '../pseudonyms/pseudonym-table.ts'
import { columnsOf } from './dataset-files.ts'
import { type DatasetFormat, type Manifest, writeText } from './dataset-folder.ts'
import { bigQueryScript, duckdbScript, type LoadedTable, postgresScript } from './dataset-sql.ts'

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

/** Writes the files that say what the files of a manifest are, and load them. Both follow from it alone. */
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

/** Data sets with pseudonyms have fewer columns. */
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
