import sql from 'sql-template-tag'
import type { Person, TestAcademy } from '../../helpers/academy.ts'
import { connect } from '../../helpers/lms.ts'
import { sample } from '../../lms/samples.ts'

/** Texts that identify the person: addresses, names, ids and free text, as they are and as they were. */
export const marks = [
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
export async function makeKnownPerson(academy: TestAcademy, admin: Person): Promise<string> {
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
