import { expect } from 'vitest'
import { operations } from '../../src/contract/index.ts'
import type { Method, Operation } from '../../src/contract/operation.ts'
import { type Answer, test as base, type Person } from '../helpers/academy.ts'
import { testWithCopies } from '../helpers/academy-copies.ts'
import { exampleOf, furnish, type Things } from './examples.ts'

/**
 * What each operation that instructors may call answers to its example, whose records belong to one course: to an instructor of
 * that course, to an instructor of another, and to the latter with the setting `instructorAccess: all`. Written down, not derived.
 */
const golden = `
                        own   other  all
courses.list            200   none   200
courses.get             200   404    200
courses.create          201   201    201
courses.update          200   404    200
courses.delete          409   404    409
courses.versions        200   404    200
courses.version         200   404    200
courses.diff            200   404    200
courses.restore         201   404    201
courses.listDeleted     none  none   200
courses.restoreDeleted  404   404    200
lessons.list            200   404    200
lessons.get             200   404    200
lessons.create          201   404    201
lessons.update          200   404    200
lessons.delete          204   404    204
lessons.versions        200   404    200
lessons.version         200   404    200
lessons.diff            200   404    200
lessons.restore         201   404    201
lessons.listDeleted     200   404    200
lessons.restoreDeleted  200   404    200
users.list              200   none   200
users.get               200   404    200
users.create            201   201    201
users.batch             200   200    200
users.profile           200   200    200
users.updateProfile     200   200    200
enrollments.list        200   404    200
enrollments.get         200   404    200
enrollments.create      201   404    201
enrollments.batch       200   each   200
enrollments.update      200   404    200
enrollments.delete      204   404    204
progress.all            200   404    200
progress.steps          200   404    200
progress.list           200   404    200
progress.set            200   404    200
progress.history        200   404    200
progress.batch          200   each   200
groups.list             200   404    200
groups.get              200   404    200
groups.create           201   404    201
groups.batch            each  each   200
groups.update           200   404    200
groups.delete           204   404    204
groups.listDeleted      200   404    200
groups.restoreDeleted   200   404    200
groups.members          200   404    200
groups.addMember        200   404    200
groups.removeMember     204   404    204
groups.memberships      200   404    200
groups.batchMembers     200   each   200
grades.list             200   404    200
grades.get              200   404    200
grades.set              200   404    200
grades.delete           204   404    204
grades.history          200   404    200
grades.batch            200   each   200
grades.report           200   404    200
analytics.learners      200   404    200
analytics.atRisk        200   404    200
analytics.activity      200   404    200
analytics.grades        200   404    200
analytics.report        200   404    200
analytics.statements    200   404    200
terms.list              200   200    200
terms.get               200   200    200
changes.list            none  none   none
changes.create          201   201    201
changes.get             404   404    404
changes.end             404   404    404
changes.records         404   404    404
plans.create            201   201    201
plans.addSteps          404   404    404
plans.carryOut          404   404    404
plans.delete            404   404    404
undo.plan               404   404    404
undo.carryOut           404   404    404
grants.list             403   403    403
grants.revoke           404   404    404
leases.take             409   409    409
leases.release          403   403    403
`

type Expected = Readonly<Record<'own' | 'other' | 'all', string>>

const table = new Map(
  golden
    .trim()
    .split('\n')
    .slice(1)
    .map((line): [string, Expected] => {
      const [id = '', own = '', other = '', all = ''] = line.split(/ +/)
      return [id, { own, other, all }]
    }),
)

const open = operations.filter(
  ({ scope, roles }) => scope !== null && scope !== 'admin' && roles.includes('instructor'),
)
// Records are read before they are changed and deleted last; a record comes before those that depend on it.
const sequence: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE']
const inSequence = sequence.flatMap((method) => open.filter((one) => one.method === method).reverse())

function ask(person: Person, operation: Operation, things: Things): Promise<Answer> {
  const { method, target, body } = exampleOf(operation, things)
  const path = target.replace(/\?(force|erase)=true/, '')
  return person.send(method, path, body, body ? { 'content-type': 'application/json' } : {})
}

/** Returns the status of an answer: `none` for an empty list, `each` for a batch whose items are all refused. */
function outcomeOf({ status, body }: Answer): string {
  if (body?.data?.length === 0) return 'none'
  const results: { status: number }[] | undefined = body?.results
  return results?.every((one) => one.status >= 400) ? 'each' : String(status)
}

const test = testWithCopies((admin, academy) => furnish(academy, admin)).extend(
  'things',
  ({ records }) => records,
)

test('the table has every operation that instructors may call, and no other', () => {
  expect([...table.keys()].sort()).toEqual(open.map(({ id }) => id).sort())
})

test.for(['own', 'other', 'all'] as const)(
  'instructors read and change what belongs to their courses, and nothing else: %s',
  async (column, { admin, instructor, things }) => {
    const { courseId } = things
    if (column === 'own')
      await admin.post('/v1/enrollments', { courseId, userId: instructor.id, role: 'instructor' })
    if (column === 'all') await admin.put('/v1/settings', { instructorAccess: 'all' })
    const outcomes = new Map<string, string>()
    for (const operation of inSequence) {
      outcomes.set(operation.id, outcomeOf(await ask(instructor, operation, things)))
    }
    const expected = [...table].map(([id, row]) => [id, row[column]])
    expect(Object.fromEntries(outcomes)).toEqual(Object.fromEntries(expected))
  },
)

test('no answer tells an instructor of a record of another course', async ({ instructor, things }) => {
  const { termId, courseTermId, leaseId, ...hidden } = things
  const texts = [...Object.values(hidden).filter((id) => id.includes('_')), 'oulad-', 'Module AAA']
  for (const operation of inSequence.filter(({ method }) => method === 'GET')) {
    const { status, text } = await ask(instructor, operation, things)
    // A refusal repeats the reference of the request.
    if (status !== 200) continue
    for (const hidden of texts) expect(text, operation.id).not.toContain(hidden)
  }
})

/**
 * What an instructor is answered about a person in a course of their own: one whom they see, one whom they do not, one who was
 * deleted, and one who does not exist. An external id that is guessed does not tell the second from the last, unless it is
 * taken for a new person. Written down, not derived.
 */
const aboutPeople = `
                                 seen  unseen  deleted  nobody
enrol by id                      201   201     409      404
enrol by external id             201   404     404      404
enrol by e-mail address          201   201     404      404
enrol by external id in a batch  201   404     404      404
create, taken external id        409   409     409      201
create, taken address            409   409     409      201
create or update in a batch      403   409     409      201
create or skip in a batch        200   409     409      201
read                             200   404     404      404
add to a group of the course     200   404     404      404
record progress                  200   404     404      404
record a grade                   200   404     404      404
`

interface Who {
  readonly id: string
  readonly externalId: string
  readonly email: string
}

/** The request of each row; `fresh` makes a name that nobody has. */
const requests: Readonly<
  Record<string, (person: Person, who: Who, course: string, fresh: string) => Promise<Answer>>
> = {
  'enrol by id': (one, { id }, courseId) => one.post('/v1/enrollments', { courseId, userId: id }),
  'enrol by external id': (one, { externalId }, courseId) =>
    one.post('/v1/enrollments', { courseId, userId: `ext:${externalId}` }),
  'enrol by e-mail address': (one, { email }, courseId) =>
    one.post('/v1/enrollments', { courseId, userId: `email:${email}` }),
  'enrol by external id in a batch': (one, { externalId }, courseId) =>
    one.post('/v1/enrollments/batch', { items: [{ courseId, userId: `ext:${externalId}` }] }),
  'create, taken external id': (one, { externalId }, _, fresh) =>
    one.post('/v1/users', { email: `${fresh}@fresh.example`, externalId }),
  'create, taken address': (one, { email }) => one.post('/v1/users', { email }),
  'create or update in a batch': (one, { externalId }, _, fresh) =>
    one.post('/v1/users/batch', {
      onExists: 'update',
      items: [{ email: `${fresh}@fresh.example`, externalId }],
    }),
  'create or skip in a batch': (one, { externalId }, _, fresh) =>
    one.post('/v1/users/batch', {
      onExists: 'skip',
      items: [{ email: `${fresh}@fresh.example`, externalId }],
    }),
  read: (one, { externalId }) => one.get(`/v1/users/ext:${externalId}`),
  'add to a group of the course': (one, { externalId }) =>
    one.put(`/v1/groups/ext:crew-${externalId.slice(2)}/members/ext:${externalId}`),
  'record progress': (one, { externalId }, courseId) =>
    one.put(`/v1/learners/ext:${externalId}/progress`, { courseId, completionPercentage: 5 }),
  'record a grade': (one, { externalId }, courseId) =>
    one.put('/v1/grades', { learnerId: `ext:${externalId}`, courseId, itemId: 'quiz', scoreGiven: 5 }),
}

base(
  'of people whom they do not see, instructors learn nothing',
  { tags: ['slow'] },
  async ({ admin, instructor }) => {
    const [head = '', ...lines] = aboutPeople.split('\n').slice(1, -1)
    const kinds = head.trim().split(/ +/)
    const answered: string[] = []
    let number = 0
    for (const line of lines) {
      const [name = ''] = line.split(/ {2,}/)
      const statuses: string[] = []
      for (const kind of kinds) {
        number += 1
        const { body: course } = await instructor.post('/v1/courses', { title: `Course ${number}` })
        const { body: other } = await instructor.post('/v1/courses', { title: `Other ${number}` })
        const names = { externalId: `x-${number}`, email: `hidden-${number}@school.example` }
        let who: Who = { id: 'usr_none', ...names }
        if (kind !== 'nobody') who = { ...names, id: (await admin.post('/v1/users', names)).body.id }
        if (kind === 'seen') await admin.post('/v1/enrollments', { courseId: other.id, userId: who.id })
        if (kind === 'deleted') await admin.delete(`/v1/users/${who.id}`)
        await admin.post('/v1/groups', { name: 'Crew', externalId: `crew-${number}`, courseId: course.id })
        const answer = await (requests[name] as (typeof requests)[string])(
          instructor,
          who,
          kind === 'seen' && name.startsWith('record') ? other.id : course.id,
          `fresh-${number}`,
        )
        const { status } = answer.body?.results?.[0] ?? answer
        statuses.push(String(status))
        if (kind === 'unseen' && !name.endsWith('address') && !name.endsWith('by id'))
          expect(answer.text, name).not.toMatch(/hidden-|usr_/)
      }
      answered.push(`${name.padEnd(33)}${statuses.join(' ')}`)
    }
    const plain = (text: string) => text.replace(/ +/g, ' ').trim()
    expect(answered.map(plain)).toEqual(lines.map(plain))
  },
)
