import sql, { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import type { PersonalSection } from '../../../src/contract/constants.ts'
import type { PersonalRecord } from '../../../src/contract/users.ts'
import { writeCursor } from '../../../src/server/database/page.ts'
import { tables } from '../../../src/server/database/schema/schema.ts'
import { sections } from '../../../src/server/users/personal-data.ts'
import { onPostgres, type Person, type TestAcademy, test } from '../../helpers/academy.ts'
import { connect } from '../../helpers/lms.ts'
import { readPages } from '../../helpers/pages.ts'
import { sample } from '../../lms/samples.ts'

const textOfOthers = 'written about no learner'
const inAuditLog = 'the audit log names the actor of each of these'
const derived = 'derived from a column that is shown'
const secret = 'a secret, or the hash of one'
const chain = 'a digest or a position, without content'
const copied = 'a copy of records that are shown'
const ofOwner = 'the person whose data it is'
const shortLived = 'lives for minutes; the grant that it leads to is shown'

/** Columns that the export leaves out, with the reason. Those of a deleted record are those of its table. */
const leftOut: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  settings: { 'name value': 'settings of the academy' },
  users: { 'email_key search_key': derived, password_hash: secret },
  api_keys: { user_id: ofOwner, hash: secret },
  calendars: { user_id: ofOwner, hash: secret },
  browser_sessions: { user_id: ofOwner, hash: secret },
  attempts: { 'slot name failures next_at': 'names an account by an HMAC only, for an hour' },
  idempotency: { user_id: ofOwner, fingerprint: secret, 'headers body': copied },
  oauth_clients: {
    'id name redirect_uris is_public secret_hash created_at machine_scopes': 'applications belong to nobody',
  },
  grants: { user_id: ofOwner },
  authorization_codes: {
    'hash client_id user_id redirect_uri scopes code_challenge expires_at grant_id': shortLived,
  },
  access_tokens: { 'hash grant_id scopes expires_at': secret },
  client_tokens: { 'hash client_id scopes expires_at': secret },
  refresh_tokens: { 'hash grant_id expires_at used_at successor': secret },
  device_codes: {
    'hash user_code_hash client_id scopes expires_at interval_seconds polled_at user_id decision': shortLived,
  },
  terms: {
    'id external_id name name_key start_date end_date managed_by version created_at updated_at': textOfOthers,
  },
  courses: {
    'description difficulty status attributes managed_by version updated_at published_at archived_at title_key search_key level term_id passing_score':
      textOfOthers,
    created_by: ofOwner,
  },
  course_versions: { 'course_id version attributes modified_attributes user_id created_at': inAuditLog },
  course_tags: { 'tag course_id': textOfOthers },
  lessons: {
    'id external_id course_id module_id title description position duration_minutes status content managed_by version created_at updated_at title_key due_at':
      textOfOthers,
  },
  lesson_versions: {
    'lesson_id version external_id course_id module_id title description position duration_minutes status content managed_by modified_attributes user_id created_at due_at':
      inAuditLog,
  },
  deletions: {
    'id kind course_id lessons enrollments progress grades user_id deleted_at groups members': inAuditLog,
  },
  enrollments: { user_id: ofOwner, user_email: copied },
  progress: { user_id: ofOwner },
  progress_steps: { user_id: ofOwner },
  grades: { user_id: ofOwner },
  line_items: {
    'id course_id item_id title description category_id assign_date due_date score_minimum score_maximum created_at updated_at':
      textOfOthers,
  },
  course_grades: { user_id: ofOwner },
  groups: {
    'id external_id name name_key search_key course_id managed_by version created_at updated_at':
      textOfOthers,
  },
  group_members: { user_id: ofOwner },
  integrations: {
    'lms_kind base_url access_token access_token_set_at access_token_last4 webhook_secrets root_account_uuid jwks_url jwks grade_to_progress grade_items default_grade_maximum version created_at updated_at client_id client_secret refresh_token token_url':
      'connects the academy to a system',
  },
  integration_mappings: { target_id: ofOwner },
  webhook_deliveries: { user_id: ofOwner },
  webhook_endpoints: {
    'id url events description status disabled_reason expires_at paused_until secret previous_secret previous_secret_until mark version created_at updated_at deleted_at kind settings next_delivery_at digest_due_at':
      'receivers belong to the academy',
  },
  webhook_subscriptions: { 'pattern endpoint_id mark courses': 'receivers belong to the academy' },
  webhook_messages: {
    'id endpoint_id type subject body status step attempt_count last_result due_at lease created_at finished_at': `${copied}; they are counted`,
  },
  webhook_attempts: {
    'message_id number started_at duration_ms status result response': 'what a receiver answered',
  },
  audit_entries: { 'place origin_digest details_digest hash': chain },
  changes: { user_id: ofOwner },
  row_changes: {
    'commit_order item kind id user_id course_id changed_at': 'says which rows changed, without content',
  },
  plans: { 'id user_id command source change_id steps characters done created_at': 'deleted after a day' },
  plan_steps: { 'plan_id step noun action record_id version record secret': 'deleted after a day' },
  change_counts: { 'change_id action slot total': 'counts actions of a change that is shown' },
}

const shownOf = (table: string) =>
  Object.values(sections).flatMap((section) => (section.table === table ? section.shown : []))

test('each column of the schema is in the data about a person, or is left out for a reason', () => {
  for (const { name, columns } of tables) {
    const reasons = leftOut[name] ?? leftOut[name.replace(/^deleted_/, '')] ?? {}
    const out = Object.keys(reasons).flatMap((names) => names.split(' '))
    const shown = new Set(shownOf(name))
    const both = out.filter((column) => shown.has(column) && name in leftOut)
    const found = Object.keys(columns).filter((column) => !shown.has(column) && !out.includes(column))
    expect({ table: name, found, both }).toEqual({ table: name, found: [], both: [] })
    if (name in leftOut)
      expect(
        out.filter((column) => !Object.hasOwn(columns, column)),
        name,
      ).toEqual([])
  }
})

test('the schema has no other tables than these and those of searches', async ({ academy }) => {
  const rows = await academy.database.all<{ name: string }>(
    onPostgres
      ? sql`select table_name as name from information_schema.tables where table_schema = current_schema()`
      : sql`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`,
  )
  const known = new Set(tables.map(({ name }) => name))
  const others = rows.map(({ name }) => name).filter((name) => !known.has(name))
  expect(
    others.filter((name) => !/^(users|courses|groups)_(search|trigrams|numbers)|^schema/.test(name)),
  ).toEqual([])
})

test('the data about a person is complete and safe', { tags: ['slow'] }, async ({ academy, admin }) => {
  const id = await makeKnownPerson(academy, admin)
  const read = (limit: number) => readPages<PersonalRecord>(admin, `/v1/users/${id}/data`, limit)
  const records = await read(100)
  const text = JSON.stringify(records)
  // `S-4711` in upper case is stored as it was sent.
  expect(marks.filter((mark) => !text.includes(mark) && mark !== 'lovelace-grades')).toEqual([])
  const filled = new Set(records.map(({ section }) => section))
  const empty = Object.keys(sections).filter((section) => !filled.has(section as PersonalSection))
  expect(empty.sort()).toEqual(
    [
      'calendars',
      'changes',
      'createdCourses',
      'deletedCreatedCourses',
      'grants',
      'sessions',
      'storedResponses',
    ].sort(),
  )
  expect(text).not.toMatch(/"(hash|passwordHash|secret|emailKey)"/)
  expect(text).not.toContain(admin.email)
  expect(await read(1)).toEqual(records)
  expect(await read(7)).toEqual(records)
})

test('a cursor that is not of this list is refused', async ({ admin }) => {
  for (const cursor of [
    'x',
    writeCursor('personal', 'grades', '["1"]'),
    writeCursor('personal', 'nothing', 'null'),
    writeCursor('personal', 'toString', 'null'),
    writeCursor('personal', 'grades', '[{},1,2]'),
  ]) {
    const { status, body } = await admin.get(`/v1/users/${admin.id}/data?cursor=${cursor}`)
    expect([status, body.code]).toEqual([400, 'invalid_cursor'])
  }
})

test('after an erasure no table has anything that identifies the person', async ({ academy, admin }) => {
  const id = await makeKnownPerson(academy, admin)
  const found = async () => {
    const places: string[] = []
    for (const { name, columns } of tables) {
      for (const row of await academy.database.all(sql`select * from ${raw(name)}`)) {
        for (const column of Object.keys(columns)) {
          const text = String(row[column]).toLowerCase()
          for (const mark of marks)
            if (text.includes(mark.toLowerCase())) places.push(`${name}.${column}: ${mark}`)
        }
      }
    }
    return places
  }
  const before = await found()
  expect(marks.filter((mark) => !before.some((place) => place.endsWith(`: ${mark}`)))).toEqual([])
  expect((await admin.delete(`/v1/users/${id}?erase=true`)).status).toBe(204)
  expect(await found()).toEqual([])
})

test('admins who erase themselves leave no address of theirs', async ({ academy, admin }) => {
  const other = await academy.person('admin')
  const send = academy.fetchFrom('198.51.100.47')
  const headers = { authorization: `Bearer ${other.key}`, 'user-agent': 'AdaBrowser/1.0' }
  const erased = await send(
    new Request(`http://localhost/v1/users/${other.id}?erase=true`, { method: 'DELETE', headers }),
  )
  expect(erased.status).toBe(204)
  const rows = await academy.database.all(sql`select origin from audit_entries`)
  expect(JSON.stringify(rows)).not.toMatch(/AdaBrowser|198\.51\.100\.47/)
  expect((await admin.get(`/v1/audit?subject_id=${other.id}`)).status).toBe(200)
})

/** Texts that identify the person: addresses, names, ids and free text, as they are and as they were. */
const marks = [
  ...[
    'augusta.byron@school.example',
    'ada.lovelace@school.example',
    'S-4711',
    'S-0815',
    'countess',
    'comtesse',
  ],
  ...['Augusta', 'Lovelace', 'Ada from London', 'Analytical engines', 'https://pictures.example/ada.png'],
  ...['tablet of Ada', 'ill on the day of Ada', 'result-of-ada', 'moodle-user-4711', 'moodle-user-old'],
  ...['AdaBrowser/1.0', '198.51.100.47', 'note on Ada', 'lovelace-grades'],
]

/** Makes a learner with data in every table that can hold some; returns their id. */
async function makeKnownPerson(academy: TestAcademy, admin: Person): Promise<string> {
  const { database, clock } = academy
  const course = (await admin.post('/v1/courses', { title: 'Logic', externalId: 'LOG', status: 'published' }))
    .body
  const old = (
    await admin.post('/v1/courses', { title: 'Old logic', externalId: 'OLD', status: 'published' })
  ).body
  await admin.post('/v1/webhooks/endpoints', { url: 'https://events.example.org/all', events: ['*'] })
  const moodle = await connect(academy, admin, 'moodle')
  const made = await admin.post('/v1/users', {
    email: 'augusta.byron@school.example',
    externalId: 'S-4711',
    username: 'countess',
    password: 'correct horse battery',
    profile: { firstName: 'Augusta', lastName: 'Lovelace', bio: 'Analytical engines' },
  })
  const { id } = made.body
  const profile = { displayName: 'Ada from London', avatarUrl: 'https://pictures.example/ada.png' }
  await admin.put(`/v1/users/${id}`, {
    ...{ email: 'ada.lovelace@school.example', externalId: 'S-0815', username: 'comtesse', profile },
  })
  await admin.put(
    '/v1/users/email:ada.lovelace@school.example',
    { username: 'comtesse' },
    { 'idempotency-key': '"S-0815"' },
  )
  const key = await admin.post('/v1/keys', { name: 'tablet of Ada', userId: id, scopes: ['read', 'write'] })
  await act(academy, key.body.key)
  const group = (await admin.post('/v1/groups', { name: 'First', courseId: course.id })).body
  const deletedGroup = (await admin.post('/v1/groups', { name: 'Second', courseId: course.id })).body
  for (const { id: groupId } of [group, deletedGroup]) await admin.put(`/v1/groups/${groupId}/members/${id}`)
  await admin.delete(`/v1/groups/${deletedGroup.id}`)
  for (const courseId of [course.id, old.id]) {
    for (const completionPercentage of [10, 100]) {
      clock.advance(60_000)
      await admin.put(`/v1/learners/${id}/progress`, { courseId, completionPercentage })
    }
    const grade = await academy.grade({ learnerId: id, courseId, scoreGiven: 80, label: 'Poster' })
    await database.run(sql`
      insert into results (grade_id, sourced_id, score_status, score, comment)
      values (${grade.id}, ${`result-of-ada-${courseId}`}, 'fully graded', null, 'ill on the day of Ada')`)
  }
  await admin.delete(`/v1/courses/${old.id}?force=true`)
  await moodle.map('user', 'moodle-user-old', id)
  const { data } = (await admin.get('/v1/integrations/moodle/mappings')).body
  await admin.delete(`/v1/integrations/moodle/mappings/${data[0].id}`)
  await moodle.map('user', 'moodle-user-4711', id)
  for (const [index, relateduserid] of ['moodle-user-4711', 'moodle-user-old'].entries()) {
    const event = sample('moodle_local_webhooks.user_graded.composed', {
      ...{ relateduserid, objectid: String(index), extra: 'note on Ada' },
    })
    await moodle.deliver(event, `msg_${index}`)
  }
  const change = await admin.post('/v1/changes', { command: 'grades import', source: 'lovelace-grades.csv' })
  await admin.post(`/v1/changes/${change.body.id}/end`, { state: 'done' })
  return id
}

/** Does as the person what a browser of theirs would do. */
async function act({ fetchFrom }: TestAcademy, key: string): Promise<void> {
  const send = fetchFrom('198.51.100.47')
  const response = await send(
    new Request('http://localhost/v1/user/profile', {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'user-agent': 'AdaBrowser/1.0',
      },
      body: JSON.stringify({ profile: { locale: 'en-GB' } }),
    }),
  )
  if (!response.ok) throw new Error(await response.text())
}
