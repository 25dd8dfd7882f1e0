import { isJsonObject } from '../../codec/json-object.ts'
import type { Call } from '../../contract/calls.ts'
import type { Argument, Command, Given } from '../command/command.ts'
import { fieldPath } from '../operation/field-path.ts'
import { call } from '../operation/operation-command.ts'
import { thingName } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'

/** A thing that keeps its versions, and what its commands call. */
interface Versioned {
  /** As texts name it: `course`. */
  readonly thing: 'course' | 'lesson'
  readonly argument: Argument
  readonly operations: () => Promise<
    Readonly<Record<'get' | 'versions' | 'diff' | 'restore' | 'restoreDeleted', Call>>
  >
  /** The columns of what a restoration of a version answers, and of the thing itself. */
  readonly updateColumns: readonly string[]
  readonly columns: readonly string[]
  /** What examples are about: `ext:first-course`. */
  readonly example: string
  /** The line of a restoration, from its verb on. */
  readonly updated: (verb: string) => (answer: unknown, given: Given) => string
}

const version = { name: 'version', summary: 'Version number', whole: true } as const

/** The changes in an answer of `diff`, each with its field as a dotted path. */
function changesIn(answer: unknown): readonly unknown[] {
  const changes = valueAt(answer, 'changes')
  if (!Array.isArray(changes)) return []
  return changes
    .filter(isJsonObject)
    .map(({ pointer, from, to }) => ({ field: fieldPath(String(pointer)), from, to }))
}

/** `versions`, `diff`, `restore` and `restore-deleted` of a thing that keeps its versions. */
export function historyCommands({
  thing,
  argument,
  operations,
  updateColumns,
  columns,
  example,
  updated,
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
      columns: ['version', 'createdAt', 'modifiedAttributes', 'userEmail'],
      examples: [`${noun} versions ${example}`],
    }),
    call({
      name: 'diff',
      summary: `Compare two versions of a ${thing} (exit 9 if they differ)`,
      operation: async () => (await operations()).diff,
      arguments: { ...own, version },
      query: { to: { kind: 'number', summary: 'Version to compare with', default: 'current' } },
      rows: { columns: ['field', 'from', 'to'], from: changesIn },
      exits: (answer) => (changesIn(answer).length > 0 ? 'drift' : null),
      examples: [`${noun} diff ${example} 1`, `${noun} diff ${example} 1 --to 2`],
    }),
    call({
      name: 'restore',
      summary: `Restore an earlier version of a ${thing}, as a new version`,
      operation: async () => (await operations()).restore,
      arguments: { ...own, version },
      columns: updateColumns,
      destroys: {
        action: ({ arguments: names }) => `restore ${thing} ${names[thing]} to version ${names['version']}`,
        question: async (look, { arguments: names }) => {
          const reference = names[thing] ?? ''
          const found = await look.one((await operations()).get, { [`${thing}Id`]: reference })
          return {
            text: `Restore ${thing} ${thingName(found, reference)} to version ${names['version']}`,
            consequence: 'The current version stays in its history.',
          }
        },
      },
      done: (answer, given) => updated(`Restored version ${given.arguments['version']} of`)(answer, given),
      examples: [`${noun} restore ${example} 1 --yes`],
    }),
    call({
      name: 'restore-deleted',
      summary:
        thing === 'course'
          ? 'Restore deleted courses with their lessons, enrolments, progress and grades'
          : 'Restore deleted lessons at their places in the course',
      description: `A deleted ${thing} can be restored for 30 days; ${noun} list --deleted shows until when.`,
      operation: async () => (await operations()).restoreDeleted,
      arguments: deleted,
      several: noun,
      columns,
      done: (answer, { arguments: names }) => `Restored ${thing} ${thingName(answer, names[thing])}`,
      examples: [`${noun} restore-deleted ${example}`],
    }),
  ]
}
