import * as z from 'zod'
import { bare, type Field, type Fields, fieldsOf } from '../../contract/fields.ts'
import { isList, paging } from '../../contract/lists.ts'
import type { Operation } from '../../contract/operation.ts'
import type { FieldFlag, FieldFlags } from '../command/flag.ts'
import { type Column, choicesIn, columnsOf } from '../dataset/column.ts'

type OwnProperties = Partial<FieldFlag>

type OwnFieldProperties = OwnProperties & {
  /** True for a required field that an argument can give, too. */
  readonly byArgument?: true
}

/**
 * Returns the flags of the fields that can be written, without secrets and JSON. They come from the columns of files, so that a flag
 * and a column cannot disagree. The build replaces the modules that call this by their values, so that a command loads no
 * schema.
 *
 * Throws on a name that is no such field.
 *
 * @param own properties of single flags
 * @param order the first flags; the others follow in the order of the contract, then the `foreign` fields,
 * then the fields of objects
 * @param without fields that few set by hand, with all inside of them: they have no flag, and come from `--body`
 */
export function flagsOf(
  schema: z.ZodObject,
  own: Readonly<Record<string, OwnFieldProperties>> = {},
  order: readonly string[] = [],
  without: readonly string[] = [],
): FieldFlags {
  const isLeftOut = (path: string) => without.some((each) => path === each || path.startsWith(`${each}.`))
  const columns = columnsOf(schema).filter(
    ({ kind, secret, path }) => kind !== 'json' && !secret && !isLeftOut(path),
  )
  const rankOf = ({ path }: Column) => {
    const first = order.indexOf(path)
    if (first >= 0) return first - order.length
    return path.includes('.') ? 2 : fieldAt(schema, path).foreign ? 1 : 0
  }
  const ordered = columns.toSorted((one, other) => rankOf(one) - rankOf(other))
  const flags = ordered.map((column) => {
    const ownFlag = { ...usualFields[column.path], ...own[column.path] }
    return [column.path, fieldFlag(schema, column, ownFlag)] as const
  })
  return known(Object.fromEntries(flags), [...Object.keys(own), ...order])
}

/** Throws on a name without a flag. */
function known(flags: FieldFlags, names: readonly string[]): FieldFlags {
  const unknown = names.find((name) => !Object.hasOwn(flags, name))
  if (unknown === undefined) return flags
  throw new Error(`${unknown} is no field or parameter with a flag`)
}

/** Flags of fields that several records have. */
const usualFields: Readonly<Record<string, OwnFieldProperties>> = {
  courseId: { name: 'course' },
  termId: { name: 'term' },
  userId: { name: 'user', unlisted: ['--learner'] },
}

function fieldFlag(
  schema: z.ZodType,
  column: Column,
  { byArgument, ...own }: OwnFieldProperties = {},
): FieldFlag {
  const { is, says, label = says } = fieldAt(schema, column.path)
  const { kind } = column
  const choices = choicesOf(is)
  const standard = column.required ? undefined : defaultText(column.initial)
  return {
    ...(kind !== 'text' && kind !== 'day' && { kind }),
    summary: label,
    ...(column.required && byArgument !== true && { required: true }),
    ...(choices && { choices }),
    ...(standard !== undefined && { default: standard }),
    ...own,
  } as FieldFlag
}

function fieldAt(schema: z.ZodType, path: string): Field {
  const names = path.split('.')
  const [last = ''] = names.splice(-1)
  const fields = names.reduce<Fields | undefined>(
    (above, name) => above?.[name] && fieldsOf(bare(above[name].is)),
    fieldsOf(schema),
  )
  const found = fields?.[last]
  if (!found) throw new Error(`${path} is not a field with a description`)
  return found
}

function defaultText(initial: unknown): string | undefined {
  if (typeof initial === 'boolean') return initial ? 'on' : 'off'
  if (Array.isArray(initial)) return initial.length > 0 ? initial.join(',') : undefined
  return initial === null || initial === '' ? undefined : String(initial)
}

/**
 * Returns the flags of a list's parameters in the order of the contract, with their kinds and choices. Times, the sort order
 * and what several lists have are derived completely; all others need a summary.
 *
 * @param without parameters that have no flag
 */
export function filtersOf(
  { id, query }: Operation,
  own: Readonly<Record<string, OwnProperties>> = {},
  without: readonly string[] = [],
): FieldFlags {
  const omitted = [...Object.keys(paging), ...without]
  const flags = Object.entries(query?.shape ?? {})
    .filter(([name]) => !omitted.includes(name))
    .map(([name, schema]) => {
      const { summary, ...flag } = { ...parameterFlag(name, schema as z.ZodType), ...own[name] }
      if (summary === undefined) throw new Error(`${name} of ${id} has no summary`)
      return [name, { ...flag, summary }] as const
    })
  return known(Object.fromEntries(flags), Object.keys(own))
}

function parameterFlag(name: string, schema: z.ZodType): OwnProperties {
  const [, event, bound] =
    /^(.*) (at or after|before) this time$/.exec(schema.meta()?.description ?? '') ?? []
  if (event !== undefined) {
    return bound === 'before'
      ? {
          kind: 'time',
          summary: `${event} before this day or time, or longer ago than a duration such as 30d`,
        }
      : { kind: 'time', summary: `${event} since this day or time, or within a duration such as 30d` }
  }
  const choices = choicesOf(schema)
  const usual = usualFilters[name] ?? {}
  if (isList(schema)) {
    return choices
      ? { ...usual, kind: 'words', choices }
      : { ...usual, kind: 'texts', ...(usual.name !== undefined && { placeholder: usual.name }) }
  }
  if (!choices) return usual
  if (name === 'sort') return sortFlag(choices, String(schema.parse(undefined)))
  return choices.join() === 'true,false' ? { ...usual, kind: 'switch' } : { ...usual, choices }
}

/** Flags of parameters that several lists have; a list of references is repeatable. */
const usualFilters: Readonly<Record<string, OwnProperties>> = {
  course_id: { name: 'course', summary: 'Filter by course: id or external id' },
  term_id: { name: 'term', summary: 'Filter by term of the course: id, external id or name' },
  group_id: { name: 'group', summary: 'Filter by members of a group: id, external id or name' },
  user_id: {
    name: 'user',
    unlisted: ['--learner'],
    summary: 'Filter by user: id, external id or e-mail address',
  },
  learner_id: {
    ...{ name: 'learner', unlisted: ['--user'] },
    summary: 'Filter by learner: id, external id or e-mail address',
  },
  external_id: { summary: 'Filter by your own id' },
  managed_by: { summary: 'Filter by managing system' },
  status: { summary: 'Filter by status' },
  difficulty: { summary: 'Filter by difficulty' },
  role: { summary: 'Filter by role' },
  source: { summary: 'Filter by source' },
  noun: { summary: 'Filter by noun' },
  include_deleted: { summary: 'Include deleted users' },
}

/** `choices` are fields, each also with `-` before it for descending. */
function sortFlag(choices: readonly string[], standard: string): FieldFlag {
  const fields = choices.filter((choice) => !choice.startsWith('-'))
  const list = `${fields.slice(0, -1).join(', ')} or ${fields.at(-1)}`
  return {
    placeholder: 'field',
    summary: `Sort by ${list}; prefix with - for descending`,
    choices,
    hasChoicesInSummary: true,
    default: standard,
  }
}

/** Undefined if it takes any value. */
function choicesOf(schema: z.ZodType): readonly string[] | undefined {
  const inner = bare(schema)
  // The items of a comma-separated list are in its metadata alone.
  const text = inner instanceof z.ZodPipe ? bare(inner.in as z.ZodType) : inner
  const { items } = (text.meta() ?? {}) as { readonly items?: { readonly enum?: readonly string[] } }
  return choicesIn(inner) ?? items?.enum
}
