import type { Call } from '../../contract/calls.ts'
import type { Column } from '../dataset/column.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { labelColumns, leavesOf, resolvePath } from '../output/columns.ts'

/** The columns of an export of records. */
export interface RecordColumns {
  /** Those of a row, in their order. */
  readonly shown: readonly Column[]
  /** True where they were chosen by name. */
  readonly chosen: boolean
  /** The fields of a row that the platform makes, and no record has. */
  readonly made: readonly string[]
}

/**
 * The columns that an import takes; those that the platform makes as well with `all`; or those that are named. Throws a
 * UsageError on a name that is none of them.
 */
export function recordColumns(
  { columns }: Pick<Dataset, 'columns'>,
  list: Pick<Call, 'holds'>,
  names: readonly string[] | null,
  all: boolean,
): RecordColumns {
  const own = columns.filter(({ secret }) => !secret)
  const isOwn = (path: string) =>
    columns.some((column) => column.path === path || path.startsWith(`${column.path}.`))
  const made = leavesOf(list.holds.answer).filter((path) => !isOwn(path))
  const paths = [...own.map(({ path }) => path), ...made]
  const others = labelColumns(made, paths).map(
    ({ path, label }): Column => ({
      name: label,
      path,
      kind: 'json',
      required: false,
      secret: false,
      initial: null,
    }),
  )
  const every = [...own, ...others]
  if (names === null)
    return all ? { shown: every, chosen: false, made } : { shown: own, chosen: false, made: [] }
  const shown = names.map((name) => {
    const path = resolvePath(name, paths)
    const column = every.find((each) => each.path === path)
    if (!column) throw new TypeError(`no column ${path}`)
    return { ...column, name }
  })
  return { shown, chosen: true, made }
}
