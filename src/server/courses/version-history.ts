import { isDeepStrictEqual } from 'node:util'
import sql, { raw, type Sql } from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-text.ts'
import type { Changes } from '../../contract/record-fields.ts'
import type { Asking } from '../access/sight.ts'
import type { Row } from '../database/database.ts'
import { during, type PageQuery, type Period, page } from '../database/page.ts'
import { escapePointer } from '../http/request-body.ts'
import { notFound } from '../problem-error.ts'

export interface VersionRow extends Row {
  readonly id: string
  readonly version: number
  readonly modified_attributes: string
  /** Null for lessons from before they had versions. */
  readonly user_id: string
  readonly user_email: string | null
  readonly created_at: string
}

interface History<Kind extends 'course' | 'lesson', Shape extends VersionRow, Attributes> {
  readonly kind: Kind
  readonly columns: Sql
  readonly attributesIn: (row: Shape) => Attributes
  /** Throws 404 for a record that the caller may not see. */
  readonly find: (
    call: Asking,
    reference: string,
  ) => Promise<{ readonly id: string; readonly version: number }>
}

type AskingFor<Key extends string, Query = unknown> = Asking & {
  readonly params: Readonly<Record<Key, string>>
  readonly query: Query
}

/** Returns the reads of the versions of courses or lessons. Each throws 404 with the reference that was used. */
export function versionsOf<Kind extends 'course' | 'lesson', Shape extends VersionRow, Attributes>({
  kind,
  columns,
  attributesIn,
  find,
}: History<Kind, Shape, Attributes>) {
  type Key = `${Kind}Id`
  const key = `${kind}Id` as Key
  const [table, owner] = [raw(`${kind}_versions v`), raw(`v.${kind}_id`)]
  const allColumns = sql`${owner} as id, v.version, v.modified_attributes, v.user_id,
    (select email from users where id = v.user_id) as user_email, v.created_at, ${columns}`

  const keyOf = ({ id }: Shape) => ({ [key]: id }) as Record<Key, string>

  const entryOf = (row: Shape) => ({
    ...keyOf(row),
    userId: row.user_id,
    userEmail: row.user_email,
    version: row.version,
    createdAt: row.created_at,
    // Written as a list of texts when the version was stored.
    modifiedAttributes: JSON.parse(row.modified_attributes) as string[],
  })

  async function findVersion(call: Asking, reference: string, version: string): Promise<Shape> {
    const { id } = await find(call, reference)
    const row = /^[1-9]\d{0,9}$/.test(version)
      ? await call.database.one<Shape>(
          sql`select ${allColumns} from ${table} where ${owner} = ${id} and v.version = ${Number(version)}`,
        )
      : undefined
    if (!row) throw notFound('version', `${version} of ${kind} ${reference}`)
    return row
  }

  return {
    async list({ database, params, query, ...call }: AskingFor<Key, PageQuery & Period>) {
      const { id } = await find({ database, ...call }, params[key])
      return page<Shape, ReturnType<typeof entryOf>>(
        database,
        {
          columns: allColumns,
          from: table,
          within: [{ field: 'version', condition: sql`${owner} = ${id}` }],
          where: [during(sql`v.created_at`, query)],
        },
        { sort: '-version', expressions: { version: sql`v.version` }, id: owner },
        query,
        entryOf,
      )
    },

    async get(call: AskingFor<Key | 'version'>) {
      const row = await findVersion(call, call.params[key], call.params.version)
      return { ...entryOf(row), attributes: attributesIn(row) }
    },

    /** With another one, or the newest. */
    async compare(call: AskingFor<Key | 'version', { readonly to?: number | undefined }>) {
      const { [key]: reference, version } = call.params
      const from = await findVersion(call, reference, version)
      const newest = (await find(call, reference)).version
      const to = await findVersion(call, reference, String(call.query.to ?? newest))
      const changes = changesBetween(attributesIn(from), attributesIn(to))
      return { ...keyOf(from), from: from.version, to: to.version, changes }
    },

    async attributesAt(call: AskingFor<Key | 'version'>): Promise<Attributes> {
      return attributesIn(await findVersion(call, call.params[key], call.params.version))
    },
  }
}

/** One entry per changed place; arrays are compared as a whole. */
function changesBetween(from: unknown, to: unknown, pointer = ''): Changes {
  if (isDeepStrictEqual(from, to)) return []
  if (!isJsonObject(from) || !isJsonObject(to)) return [{ pointer, from: from ?? null, to: to ?? null }]
  return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((key) =>
    changesBetween(from[key], to[key], `${pointer}/${escapePointer(key)}`),
  )
}
