import { closeSync, openSync, writeSync } from 'node:fs'
import { ByteWriter, parquetWriteRows } from 'hyparquet-writer'
import type { EncodedColumn, TableEncoder } from '../../src/tables/column.ts'
import { tables } from '../../src/tables/dictionary.ts'
import { parquetEncoder } from '../../src/tables/parquet.ts'
import { xlsxEncoder } from '../../src/tables/xlsx.ts'

// Writes rows of learners to a file, as an export does or with hyparquet-writer alone: `node bare-tables.ts <how> <rows> <file>`.
// Prints the milliseconds and the peak memory in MiB.

const [, , how = '', count = '', path = ''] = process.argv
const columns: readonly EncodedColumn[] = tables.find(({ name }) => name === 'learners')?.columns ?? []
const batchRows = 500
const file = openSync(path, 'w')
const startedMs = performance.now()

/** Returns a row as an academy sends it. */
function rowOf(index: number): Record<string, unknown> {
  const timeOf = (offset: number) => new Date(1_700_000_000_000 + index * 60_017 + offset).toISOString()
  const completion = index % 101
  return {
    learnerId: `usr_${index.toString(16).padStart(29, '0')}`,
    email: `learner-${index}@school.example`,
    firstName: `First${index % 5000}`,
    lastName: `Last${index % 20_000}`,
    externalId: String(index).padStart(9, '0'),
    courseId: `crs_${(index % 100).toString(16).padStart(29, '0')}`,
    courseTitle: `Module ${index % 100}, presentation 2014J`,
    difficulty: 'beginner',
    enrollmentStatus: 'active',
    enrolledAt: timeOf(0),
    progressStatus: completion === 100 ? 'completed' : 'in_progress',
    completionPercentage: completion,
    startedAt: timeOf(1000),
    lastAccessed: timeOf(86_400_000),
    completedAt: completion === 100 ? timeOf(86_400_001) : null,
    gradePercent: index % 3 === 0 ? null : (index % 10_007) / 100.07,
    passed: index % 3 === 0 ? null : index % 10_007 > 6000,
    gradeUpdatedAt: index % 3 === 0 ? null : timeOf(3_600_000),
    courseExternalId: `AAA-${index % 100}`,
  }
}

async function writeOurs(
  create: (columns: readonly EncodedColumn[], sink: (bytes: Uint8Array) => void) => TableEncoder,
) {
  const encoder = create(columns, (bytes) => {
    writeSync(file, bytes)
  })
  for (let from = 0; from < Number(count); from += batchRows) {
    const size = Math.min(batchRows, Number(count) - from)
    await encoder.rows(Array.from({ length: size }, (_, index) => rowOf(from + index)))
  }
  await encoder.end()
}

/** Writes the same columns, with times as the library takes them. */
async function writeBare() {
  const writer = new ByteWriter()
  const flush = () => {
    writeSync(file, writer.getBytes())
    writer.index = 0
  }
  const types = { string: 'STRING', percent: 'DOUBLE', boolean: 'BOOLEAN', timestamp: 'TIMESTAMP' } as const
  const times = columns.filter(({ type }) => type === 'timestamp').map(({ name }) => name)
  function* rows() {
    for (let index = 0; index < Number(count); index += 1) {
      const row = rowOf(index)
      for (const name of times) if (row[name] !== null) row[name] = new Date(String(row[name]))
      yield row
    }
  }
  await parquetWriteRows({
    writer: Object.assign(writer, { flush, finish: flush }),
    rows: rows(),
    columns: columns.map(({ name, type }) => ({ name, type: types[type as keyof typeof types] })),
  })
}

if (how === 'bare') await writeBare()
else await writeOurs(how === 'parquet' ? parquetEncoder : xlsxEncoder)
closeSync(file)
const peakMiB = process.resourceUsage().maxRSS / 1024
process.stdout.write(`${Math.round(performance.now() - startedMs)} ${Math.round(peakMiB)}\n`)
