import { isJsonObject } from '../../codec/json-text.ts'
import type { Call } from '../../contract/calls.ts'
import { fieldPath, valueAt } from '../../tables/column.ts'
import type { Argument, Command, Given } from '../command/command.ts'
import type { FieldFlags } from '../command/flag.ts'
import type { NamedChange } from '../operation/differences.ts'
import { call } from '../operation/operation-command.ts'
import { thingName, updatedLine } from '../operation/thing-name.ts'
import { UsageError } from '../terminal/errors.ts'

interface Versioned {
  readonly thing: 'course' | 'lesson'
  readonly argument: Argument
  readonly operations: () => Promise<
    Readonly<Record<'get' | 'versions' | 'diff' | 'restore' | 'restoreDeleted', Call>>
  >
  readonly versionFilters: FieldFlags
  readonly updateColumns: readonly string[]
  readonly columns: readonly string[]
  /** Reference for examples: `ext:first-course`. */
  readonly example: string
  /** Success line of a change (default `updatedLine`). */
  readonly updated?: (verb: string) => (answer: unknown, given: Given, unchanged: boolean) => string
}

const version = { name: 'version', summary: 'Version number', whole: true } as const

function changesIn(answer: unknown): readonly NamedChange[] {
  const changes = valueAt(answer, 'changes')
  if (!Array.isArray(changes)) return []
  return changes
    .filter(isJsonObject)
    .map(({ pointer, from, to }) => ({ field: fieldPath(String(pointer)), from, to }))
}

async function shortRows(answer: unknown): Promise<readonly unknown[]> {
  const { changeRows } = await import('../operation/differences.ts')
  return changesIn(answer).flatMap(changeRows)
}

/** `restore <x>` and `restore <x> <version>`. An integer is a version; `restore-deleted` takes it for another record. */
function restoreCommands(thing: string, version: Command, deleted: Command): Command[] {
  const [first] = deleted.arguments ?? []
  const noun = `${thing}s`
  const versionIn = ({ rest }: Given) =>
    rest.length === 2 && /^v?\d+$/i.test(rest[1] ?? '') ? rest[1] : undefined
  const restore: Command = {
    ...deleted,
    name: 'restore',
    ...(thing === 'course' && { alsoPrints: ['CourseUpdate'] }),
    summary: `Restore deleted ${noun}, or an earlier version of a ${thing}`,
    description: `Without a version, deleted ${noun} come back ${thing === 'course' ? 'with their lessons, enrolments, progress and grades' : 'at their places in the course'}, for 30 days after their deletion; ${noun} list --deleted shows until when.\nWith a version, the ${thing} gets its attributes of that version back, as a new version.`,
    arguments: [
      ...(first ? [first] : []),
      { name: 'version', summary: `Version of a ${thing} that was not deleted`, optional: true },
    ],
    examples: [...(deleted.examples ?? []), ...(version.examples ?? [])],
    run: async (context, given) => {
      const wanted = versionIn(given)
      if (wanted === undefined) return deleted.run(context, given)
      if (!/^[1-9]\d*$/.test(wanted)) {
        throw new UsageError(`<version> must be a whole number, 1 or more, not ${JSON.stringify(wanted)}`)
      }
      const flag = Object.keys(given.flags).find((name) => given.flags[name] !== undefined)
      if (flag !== undefined) throw new UsageError(`--${flag} and <version> cannot be used together`)
      return version.run(context, { ...given, rest: [] })
    },
  }
  return [restore, { ...deleted, name: 'restore-deleted', unlisted: true, examples: [] }]
}

export function historyCommands({
  thing,
  argument,
  operations,
  versionFilters,
  updateColumns,
  columns,
  example,
  updated = (verb) =>
    (answer, { arguments: names }, unchanged) =>
      updatedLine(verb, `${thing} ${thingName(answer, names[thing])}`, answer, unchanged),
}: Versioned): Command[] {
  const noun = `${thing}s`
  const own = { [`${thing}Id`]: argument }
  const deleted = { [thing === 'course' ? 'deletedCourseId' : 'deletedLessonId']: argument }
  return [
    call({
      name: 'versions',
      summary: `List the versions of a ${thing}`,
      operation: async () => (await operations()).versions,
      arguments: own,
      query: versionFilters,
      columns: ['version', 'createdAt', 'modifiedAttributes', 'userEmail'],
      examples: [`${noun} versions ${example}`],
    }),
    call({
      name: 'diff',
      summary: `Compare two versions of a ${thing} (exit 9 if they differ)`,
      operation: async () => (await operations()).diff,
      arguments: { ...own, version },
      query: { to: { kind: 'number', summary: 'Version to compare with', default: 'current' } },
      rows: { columns: ['field', 'from', 'to'], from: changesIn, short: shortRows },
      exitNames: ['drift'],
      exits: (answer) => (changesIn(answer).length > 0 ? 'drift' : null),
      examples: [`${noun} diff ${example} 1`, `${noun} diff ${example} 1 --to 2`],
    }),
    ...restoreCommands(
      thing,
      call({
        name: 'restore',
        summary: `Restore an earlier version of a ${thing}, as a new version`,
        operation: async () => (await operations()).restore,
        arguments: { ...own, version },
        columns: updateColumns,
        destroys: {
          action: ({ arguments: names }) => `restore ${thing} ${names[thing]} to version ${names['version']}`,
          read: async (look, { arguments: names }) =>
            look.one((await operations()).get, { [`${thing}Id`]: names[thing] ?? '' }),
          question: async (_, { arguments: names }, found) => ({
            text: `Restore ${thing} ${thingName(found, names[thing])} to version ${names['version']}`,
            consequence: 'The current version stays in its history.',
          }),
        },
        done: (answer, given, unchanged) =>
          updated(`Restored version ${given.arguments['version']} of`)(answer, given, unchanged),
        examples: [`${noun} restore ${example} 1 --yes`],
      }),
      call({
        name: 'restore',
        summary: `Restore deleted ${noun}`,
        operation: async () => (await operations()).restoreDeleted,
        arguments: deleted,
        several: noun,
        columns,
        done: (answer, { arguments: names }) => `Restored ${thing} ${thingName(answer, names[thing])}`,
        examples: [`${noun} restore ${example}`],
      }),
    ),
  ]
}
