import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AuditEntry } from '../../../src/contract/audit.ts'
import { linkEntries } from '../../../src/server/changes/audit-entry.ts'
import { minute, openTestAcademy, type Person } from '../../helpers/academy.ts'
import { checkChain, readAuditLog } from '../../helpers/audit-log.ts'
import { readPages } from '../../helpers/pages.ts'
import { randomRuns } from '../../helpers/random.ts'

const thing = fc.nat(1)
const title = fc.constantFrom('Logic', 'Algebra', 'Go')

/** Any change of courses, lessons, users, enrolments or grades, mostly of existing ones. */
const anyWrite = fc.oneof(
  fc.record({ kind: fc.constant('course'), thing, title, modules: fc.subarray(['one', 'two']) }),
  fc.record({
    kind: fc.constant('status'),
    thing,
    status: fc.constantFrom('draft', 'published', 'archived'),
  }),
  fc.record({ kind: fc.constant('lesson'), thing, title, order: fc.nat(3), inModule: fc.boolean() }),
  fc.record({ kind: fc.constant('user'), thing, status: fc.constantFrom('active', 'suspended', 'deleted') }),
  fc.record({ kind: fc.constant('enrol'), thing, status: fc.constantFrom('active', 'inactive', 'deleted') }),
  fc.record({ kind: fc.constant('progress'), thing, percentage: fc.constantFrom(10, 100) }),
  fc.record({ kind: fc.constant('grade'), thing, score: fc.constantFrom(10, 90) }),
  fc.record({ kind: fc.constant('delete lesson'), thing }),
  fc.record({ kind: fc.constant('restore lesson') }),
)
type AnyWrite = typeof anyWrite extends fc.Arbitrary<infer Value> ? Value : never

/** First changes of each run; most others are about these records. */
const beginning: readonly AnyWrite[] = [0, 1].flatMap((thing) => [
  { kind: 'course', thing, title: 'Go', modules: ['one', 'two'] },
  { kind: 'status', thing, status: 'published' },
  { kind: 'user', thing, status: 'active' },
])

/** Sends a change; a refused one changes nothing. */
async function send(admin: Person, write: AnyWrite): Promise<void> {
  const number = 'thing' in write ? write.thing : 0
  const [course, user] = [`ext:c${number}`, `ext:u${number}`]
  switch (write.kind) {
    case 'course': {
      const modules = 'modules' in write ? write.modules.map((name) => ({ title: name })) : []
      await admin.post('/v1/courses', { externalId: `c${number}`, title: 'First' })
      await admin.put(`/v1/courses/${course}`, { title: write.title, modules })
      break
    }
    case 'status':
      await admin.put(`/v1/courses/${course}`, { status: write.status, description: `Now ${write.status}` })
      break
    case 'lesson': {
      const { body } = await admin.get(`/v1/courses/${course}`)
      const moduleId = write.inModule ? (body.modules?.[0]?.id ?? null) : null
      await admin.post('/v1/lessons', {
        courseId: course,
        title: write.title,
        order: write.order + 1,
        moduleId,
      })
      break
    }
    case 'user':
      await admin.post('/v1/users', { externalId: `u${number}`, email: `u${number}@school.example` })
      if (write.status === 'deleted') await admin.delete(`/v1/users/${user}`)
      else
        await admin.put(`/v1/users/${user}`, {
          status: write.status,
          username: `name-${write.status}-${number}`,
        })
      break
    case 'enrol': {
      const { body } = await admin.post('/v1/enrollments', { courseId: course, userId: user })
      if (body.id) await admin.put(`/v1/enrollments/${body.id}`, { status: write.status })
      break
    }
    case 'progress':
      await admin.put(`/v1/learners/${user}/progress`, {
        courseId: course,
        completionPercentage: write.percentage,
      })
      break
    case 'grade':
      await admin.put('/v1/grades', {
        learnerId: user,
        courseId: course,
        itemId: 'exam',
        scoreGiven: write.score,
      })
      break
    case 'delete lesson': {
      const { data } = (await admin.get(`/v1/lessons?course_id=${course}`)).body
      if (data?.[0]) await admin.delete(`/v1/lessons/${data[0].id}`)
      break
    }
    default: {
      const { data } = (await admin.get('/v1/deleted-lessons')).body
      if (data[0]) await admin.post(`/v1/deleted-lessons/${data[0].id}/restore`)
    }
  }
}

type Thing = Readonly<Record<string, unknown>>

/** Fields of a record that belong to others and change without it; the time of the change is that of the entry. */
const ofOthers = ['updatedAt', 'courseTitle', 'courseExternalId', 'userEmail', 'userExternalId', 'modules']

function own(thing: Thing): Thing {
  return Object.fromEntries(Object.entries(thing).filter(([field]) => !ofOthers.includes(field)))
}

/** Rebuilds all records from the log; each change starts from the result of the one before. */
function replayed(entries: readonly AuditEntry[]): Map<string, Thing> {
  const things = new Map<string, Thing>()
  for (const { id, subjectId, before, after } of entries) {
    if (subjectId === null || (before === null && after === null)) continue
    const known = things.get(subjectId)
    if (before && known) expect(own(known), id).toMatchObject(own(before))
    if (after === null) things.delete(subjectId)
    else things.set(subjectId, before ? { ...known, ...after } : after)
  }
  return things
}

test('after any writes, what the log says of a thing leads from one change to the next, and to what it is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyWrite, { minLength: 10, maxLength: 30 }), async (writes) => {
      await using academy = await openTestAcademy()
      const admin = await academy.person('admin')
      for (const write of [...beginning, ...writes]) {
        academy.clock.advance(minute)
        await send(admin, write)
      }
      while (await academy.database.write((transaction) => linkEntries(transaction)));
      const entries = await readAuditLog(admin)
      expect(checkChain(entries)).toMatchObject({ broken: 0, unlinked: 0, place: entries.length })
      const things = replayed(entries)
      for (const list of ['courses', 'lessons', 'users?include_deleted=true', 'enrollments', 'grades']) {
        for (const thing of await readPages<Thing & { id: string }>(admin, `/v1/${list}`)) {
          const known = things.get(thing.id)
          // The first admin exists before the first entry.
          if (known) expect(own(known)).toEqual(own(thing))
          else expect(thing['email']).toBe('admin@academy.local')
        }
      }
    }),
    { numRuns: randomRuns(1, 8) },
  )
})
