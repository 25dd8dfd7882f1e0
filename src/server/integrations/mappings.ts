import sql from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import type { LmsKind, MappedNoun } from '../../contract/constants.ts'
import { type integrations, type Mapping, MappingInput } from '../../contract/integrations.ts'
import { recordChange } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import type { Row } from '../database/database.ts'
import { during, page } from '../database/page.ts'
import { recordReader } from '../database/record.ts'
import { resolve, resolveFilter } from '../database/reference.ts'
import { readBatch, runBatch, upsert } from '../http/batch.ts'
import { type Call, type Handler, requireVersion } from '../http/handler.ts'
import { bodyOf, parseBody } from '../http/schema-routes.ts'
import { notFound, ProblemError, parentNotFound } from '../problem-error.ts'
import { requireKind } from './integration.ts'

type Operations = typeof integrations

/** From `integration_mappings m`, with the current name of the course or user. */
const columns = sql`m.id, m.lms_kind, m.noun, m.external_key, m.target_id as reference,
  case when m.noun = 'course' then coalesce((select title from courses where id = m.target_id),
      (select title from deleted_courses where id = m.target_id))
    else (select email from users where id = m.target_id) end as name,
  case when m.noun = 'course' and exists (select 1 from courses where id = m.target_id)
      or m.noun = 'user' and exists (select 1 from users where id = m.target_id and status <> 'deleted')
    then 'active' else 'deleted' end as target_status,
  m.version, m.created_at, m.updated_at`

const toMapping = recordReader<Mapping>(calls.integrations.mapping)

const listMappings: Handler<Operations['mappings']> = async (call) => {
  const { database, query, params } = call
  const kind = requireKind(params.lmsKind)
  const { noun, external_key: key, course_id: course, user_id: user } = query
  const target = async (table: 'courses' | 'users', reference: string | undefined, parameter: string) =>
    reference && sql`m.target_id = ${await resolveFilter(database, table, reference, parameter)}`
  return page<Row, Mapping>(
    database,
    {
      columns,
      from: sql`integration_mappings m`,
      within: [
        {
          field: 'createdAt',
          condition: noun ? sql`m.lms_kind = ${kind} and m.noun = ${noun}` : sql`m.lms_kind = ${kind}`,
        },
        { field: 'createdAt', condition: during(sql`m.created_at`, query) },
      ],
      where: [during(sql`m.updated_at`, { since: query.updated_since })],
      narrow: [
        // Written like the primary key, so that the index is used.
        key && sql`m.lms_kind = ${kind} and m.noun in ('course', 'user') and m.external_key = ${key}`,
        await target('courses', course, 'course_id'),
        await target('users', user, 'user_id'),
      ],
    },
    { sort: '-createdAt', expressions: { createdAt: sql`m.created_at` }, id: sql`m.id` },
    query,
    toMapping,
  )
}

const getMapping: Handler<Operations['mapping']> = (call) => findMapping(call, call.params)

const setMapping: Handler<Operations['map']> = async (call) => {
  const kind = requireKind(call.params.lmsKind)
  const input = bodyOf(call)
  const targetId = await targetOf(call, input)
  const before = await findByKey(call, kind, input)
  requireVersion(call, before?.version ?? 0)
  return storeMapping(call, kind, { ...input, targetId }, before)
}

const setMappings: Handler<Operations['mapBatch']> = (call) => {
  const kind = requireKind(call.params.lmsKind)
  const { items, onExists } = readBatch(call.rawBody, 'update')
  return runBatch(call, items, async (item) => {
    const input = parseBody(MappingInput, item.rawBody)
    const before = await findByKey(item, kind, input)
    if (before && onExists === 'fail') {
      const { id, noun, externalKey, name, reference } = before
      const detail = `A mapping of ${noun} ${externalKey} to ${name ?? reference} already exists: ${id}.`
      throw new ProblemError('duplicate', detail, { members: { id } })
    }
    const write = async () =>
      storeMapping(item, kind, { ...input, targetId: await targetOf(item, input) }, before)
    return upsert(onExists, before, write, write)
  })
}

const deleteMapping: Handler<Operations['unmap']> = async (call) => {
  const mapping = await findMapping(call, call.params)
  requireVersion(call, mapping.version)
  await call.database.run(sql`delete from integration_mappings where id = ${mapping.id}`)
  const before = withUser(mapping)
  await recordChange(call, { action: 'mapping.deleted', id: mapping.id, before, after: null })
  return undefined
}

export const mappingHandlers = {
  mappings: listMappings,
  mapping: getMapping,
  map: setMapping,
  mapBatch: setMappings,
  unmap: deleteMapping,
}

async function targetOf(
  { database }: Pick<Call, 'database'>,
  { noun, reference }: MappingInput,
): Promise<string> {
  const id =
    noun === 'course'
      ? await resolve(database, 'courses', reference)
      : await resolve(database, 'users', reference, sql`status <> 'deleted'`)
  if (id) return id
  throw parentNotFound('#/reference', noun, reference)
}

async function findByKey(
  { database }: Pick<Call, 'database'>,
  kind: LmsKind,
  { noun, externalKey }: Pick<MappingInput, 'noun' | 'externalKey'>,
): Promise<Mapping | undefined> {
  const row = await database.one(sql`
    select ${columns} from integration_mappings m
    where m.lms_kind = ${kind} and m.noun = ${noun} and m.external_key = ${externalKey}`)
  return row && toMapping(row)
}

/** Recorded fields of an update: undo finds the mapping by its kind and key. */
const recordedFields = [
  'lmsKind',
  'noun',
  'externalKey',
  'reference',
  'name',
  'targetStatus',
  'version',
  'userId',
]

async function storeMapping(
  call: Writing,
  kind: LmsKind,
  { noun, externalKey, targetId }: { noun: MappedNoun; externalKey: string; targetId: string },
  before: Mapping | undefined,
): Promise<Mapping> {
  if (before?.reference === targetId) return before
  const { database, now } = call
  await database.run(sql`
    insert into integration_mappings (id, lms_kind, noun, external_key, target_id, version, created_at, updated_at)
    values (${call.newId('map')}, ${kind}, ${noun}, ${externalKey}, ${targetId}, 1, ${now}, ${now})
    on conflict (lms_kind, noun, external_key) do update set
      target_id = excluded.target_id, version = integration_mappings.version + 1, updated_at = excluded.updated_at`)
  const after = await findByKey(call, kind, { noun, externalKey })
  if (!after) throw new Error(`Mapping of ${noun} ${externalKey} was not stored`)
  const [from, to] = [before ? withUser(before) : null, withUser(after)]
  await recordChange(call, {
    ...{ action: 'mapping.updated', id: after.id, before: from, after: to },
    fields: recordedFields,
  })
  return after
}

/** So that audit entries about the mapping can be erased with the user. */
function withUser(mapping: Mapping) {
  return { ...mapping, userId: mapping.noun === 'user' ? mapping.reference : null }
}

async function findMapping(
  { database }: Pick<Call, 'database'>,
  { lmsKind, mappingId }: { readonly lmsKind: string; readonly mappingId: string },
): Promise<Mapping> {
  const kind = requireKind(lmsKind)
  const row = await database.one(
    sql`select ${columns} from integration_mappings m where m.id = ${mappingId} and m.lms_kind = ${kind}`,
  )
  if (!row) throw notFound('mapping', mappingId)
  return toMapping(row)
}
