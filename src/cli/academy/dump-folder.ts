import { mkdir, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { openTarget, type TargetFile } from '../terminal/target-file.ts'
import { formatVersion, type PartName } from './academy-document.ts'
import { type Chunk, yamlText } from './dump.ts'

/**
 * Writes an academy into a folder: `academy.yaml` with the names of the tables, a table (JSONL) each for users,
 * enrolments, progress and grades, and a file for each course. Throws a UsageError if the folder has files already,
 * unless `force`.
 */
export async function dumpFolder(
  { cwd }: Io,
  folder: string,
  chunks: AsyncIterable<Chunk>,
  force: boolean,
): Promise<void> {
  const there = await readdir(resolve(cwd, folder)).catch(() => [])
  if (there.length > 0 && !force) {
    throw new UsageError(`${folder} is not empty`, { hint: 'Use --force to overwrite files in it' })
  }
  await mkdir(resolve(cwd, folder, 'courses'), { recursive: true, mode: 0o700 })
  const options = { force, mode: 0o600 }
  const tables = new Map<PartName, TargetFile>()
  const names = new Set<string>()
  try {
    for await (const { part, records } of chunks) {
      if (part === 'courses') {
        for (const record of records) await writeCourse(record)
        continue
      }
      const table = tables.get(part) ?? (await openTarget(cwd, join(folder, `${part}.jsonl`), options))
      tables.set(part, table)
      await table.write(Buffer.from(records.map((record) => `${jsonText(record)}\n`).join('')))
    }
    for (const table of tables.values()) await table.finish()
  } catch (error) {
    await Promise.all([...tables.values()].map((table) => table.discard()))
    throw error
  }
  const parts = [...tables.keys()].map((part) => `${part}:\n  file: ${part}.jsonl\n`)
  await writeText(join(folder, 'academy.yaml'), [`learnctl: ${formatVersion}\n`, ...parts].join(''))

  async function writeCourse(record: JsonObject): Promise<void> {
    async function* one(): AsyncGenerator<Chunk> {
      yield { part: 'courses', records: [record] }
    }
    let text = ''
    for await (const piece of yamlText(one())) text += piece
    await writeText(join(folder, 'courses', `${fileNameOf(String(record['externalId']), names)}.yaml`), text)
  }

  async function writeText(path: string, text: string): Promise<void> {
    const file = await openTarget(cwd, path, options)
    try {
      await file.write(Buffer.from(text))
      await file.finish()
    } catch (error) {
      await file.discard()
      throw error
    }
  }
}

/** Returns a unique file name for a course that is valid on every file system. */
function fileNameOf(externalId: string, taken: Set<string>): string {
  const plain = externalId.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 80) || 'course'
  let name = plain
  for (let number = 2; taken.has(name.toLowerCase()); number += 1) name = `${plain}-${number}`
  taken.add(name.toLowerCase())
  return name
}
