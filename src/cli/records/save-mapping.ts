import { resolve } from 'node:path'
import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import { systemCode } from '../../config/errors.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { UsageError } from '../terminal/errors.ts'
import { type Io, note } from '../terminal/io.ts'
import { writeTarget } from '../terminal/target-file.ts'
import { readFileText } from '../terminal/text-input.ts'
import type { ImportFile } from './sources/file.ts'
import { addedColumns, columnsIn, isMappingCell } from './sources/header.ts'
import { type FileMapping, mappingDocument } from './sources/mapping.ts'

/**
 * Writes a mapping to a JSON or YAML file. Adds to the file that it was read from, and keeps the comments there. Throws a
 * UsageError if there is another file.
 *
 * @param readFrom file that the mapping was read from
 */
export async function saveMapping(
  io: Io,
  path: string,
  readFrom: string | undefined,
  document: JsonObject,
): Promise<void> {
  const { parseDocument } = await import('yaml')
  const before = await textIn(io, path)
  const file = parseDocument(before ?? '', { stringKeys: true })
  const changes = leavesOf(document).filter(
    ({ steps, value }) => !file.hasIn(steps) || String(file.getIn(steps) ?? '') !== String(value ?? ''),
  )
  if (before !== null && changes.length === 0) return
  if (before !== null && (readFrom === undefined || resolve(io.cwd, path) !== resolve(io.cwd, readFrom))) {
    throw new UsageError(`${path} already exists`, {
      hint: `To add to it: --mapping ${path} --save-mapping ${path}`,
    })
  }
  for (const { steps, value } of changes) file.setIn(steps, value)
  const isJson = /\.json$/i.test(path)
  const text = isJson ? `${jsonText(document, 2)}\n` : file.toString({ lineWidth: 0 })
  await writeTarget(io.cwd, path, [text], { force: true })
  await note(io, `Saved the mapping; the next run with such files takes it: --mapping ${path}`)
}

/** Returns a mapping with all columns of its file as a document. */
export function wholeMapping(mapping: FileMapping, dataset: Dataset, { name }: ImportFile): JsonObject {
  const { map, header } = mapping
  const columns = columnsIn(dataset, header, map, name)
  const all = header.map((text, index) => [text, columns[index]?.path ?? null] as const)
  const own = all.filter(([text, path]) => path !== null || map.has(text) || !isAdded(text))
  return mappingDocument({ ...mapping, map: new Map([...own, ...map]) }, dataset)
}

function isAdded(name: string): boolean {
  return isMappingCell(name) || addedColumns.some((added) => name === added || name === `import ${added}`)
}

/** Returns null if there is no file. */
async function textIn(io: Io, path: string): Promise<string | null> {
  try {
    return await readFileText(io, path)
  } catch (error) {
    if (systemCode(error instanceof Error ? error.cause : error) === 'ENOENT') return null
    throw error
  }
}

/** A value of a document and the names on the way to it. */
interface Leaf {
  readonly steps: readonly string[]
  readonly value: unknown
}

function leavesOf(value: unknown, steps: readonly string[] = []): Leaf[] {
  if (!isJsonObject(value)) return [{ steps, value }]
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, [...steps, name]))
}
