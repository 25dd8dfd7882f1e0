import { csvTable } from '../records/sources/csv.ts'
import type { ImportFile } from '../records/sources/file.ts'
import { oneRosterVersions } from './oneroster-tables.ts'
import type { RosterFindings, RosterMode } from './roster.ts'

export type Manifest = Awaited<ReturnType<typeof readManifest>>

const modes: readonly string[] = ['bulk', 'delta', 'absent']

export function isManifest(header: readonly string[]): boolean {
  const [name = '', value = ''] = header.map((text) => text.toLowerCase())
  return name === 'propertyname' && value === 'value'
}

/** Names of properties are compared without case. */
export async function readManifest(file: ImportFile) {
  const properties = new Map<
    string,
    { readonly value: string; readonly line: number; readonly name: string }
  >()
  for await (const some of (await csvTable(file)).records) {
    for (const { line, cells } of some) {
      const [name = '', value = ''] = cells.map((cell) => cell.trim())
      properties.set(name.toLowerCase(), { name, value, line })
    }
  }
  const textOf = (name: string) => properties.get(name.toLowerCase())?.value || null
  const isMode = (value: string | null): value is RosterMode | 'absent' => modes.includes(value ?? '')
  /** Null if the manifest does not name the table. */
  const modeOf = (table: string) => {
    const mode = textOf(`file.${table}`)?.toLowerCase() ?? null
    return isMode(mode) ? mode : null
  }
  return {
    version: textOf('oneroster.version'),
    // Some systems write the version of the files.
    systemName: textOf('source.systemName')?.replace(/^absent$/i, '') || null,
    modeOf,
    /** Adds problems of the manifest, and files that it names and the package lacks. */
    check(findings: RosterFindings, has: (table: string) => boolean) {
      const version = textOf('oneroster.version')
      const versions: readonly string[] = oneRosterVersions
      if (version === null || !versions.includes(version)) {
        findings.addLeniency(file.name, 'oneroster.version is neither 1.1 nor 1.2', version ?? 'missing')
      }
      for (const { name, value, line } of properties.values()) {
        if (!/^file\./i.test(name)) continue
        if (value === '') {
          findings.addLeniency(file.name, 'files without a mode are read as absent if they are missing', name)
          continue
        }
        const table = name.slice('file.'.length)
        const place = { file: file.name, line }
        if (!modes.includes(value.toLowerCase())) {
          const message = 'must be bulk, delta or absent'
          findings.addProblem(null, place, { column: 'value', value, code: 'invalid_choice', message })
          continue
        }
        if (!modes.includes(value)) {
          findings.addLeniency(file.name, 'modes are not spelled as specified', value)
        }
        if (value.toLowerCase() !== 'absent' && !has(table)) {
          const message = `names ${table}.csv, which is missing; mark it absent`
          findings.addProblem(null, place, { column: name, value, code: 'missing_file', message })
        }
      }
    },
  }
}
