import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Change } from '../../../src/contract/changes.ts'
import type { Ran, TestCli } from '../../helpers/cli.ts'

const word = fc.constantFrom('Alps', 'Bays', 'Capes', 'Dunes')
/** A text of which the audit log has a digest only. */
const longText = fc.constant('long '.repeat(1000).trim())
const some = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })

const user = fc.record({
  role: fc.constantFrom('learner', 'instructor', 'analyst'),
  status: fc.constantFrom('active', 'suspended'),
  profile: some(fc.record({ firstName: fc.constantFrom('Ada', 'Bob'), bio: fc.constantFrom('', 'short') })),
})
const course = fc.record({
  title: word,
  description: some(fc.oneof(word, longText)),
  status: fc.constantFrom('draft', 'published', 'archived'),
  tags: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
  modules: fc.uniqueArray(fc.constantFrom('One', 'Two', 'Three'), { maxLength: 3 }),
  term: fc.constantFrom(null, 'T0', 'T1'),
})
/** A lesson at its place: of a course, and of a module, or none where the course has fewer. */
const lesson = fc.record({
  externalId: fc.constantFrom('L1', 'L2', 'L3', 'L4', 'L5', 'L6'),
  title: word,
  description: some(longText),
  course: fc.nat(1),
  module: fc.nat(3),
})
const place = fc.record({
  status: fc.constantFrom('active', 'inactive', 'completed'),
  scores: fc.dictionary(fc.constantFrom('exam', 'essay'), fc.constantFrom(0, 40, 100)),
})
const group = fc.record({
  name: fc.constantFrom('5a', '5b'),
  course: fc.constantFrom(null, 0, 1),
  members: fc.uniqueArray(fc.nat(2)),
})
const term = fc.record({
  name: fc.constantFrom('Spring', 'Autumn'),
  startDate: some(fc.constant('2026-01-01')),
})

/** A school: records by their place, null for none, and enrolments of each user in each course. */
export const school = fc.record({
  terms: fc.tuple(...Array.from({ length: 2 }, () => fc.option(term))),
  users: fc.tuple(...Array.from({ length: 3 }, () => fc.option(user))),
  courses: fc.tuple(...Array.from({ length: 2 }, () => fc.option(course))),
  lessons: fc.uniqueArray(lesson, { selector: ({ externalId }) => externalId, maxLength: 6 }),
  groups: fc.tuple(...Array.from({ length: 2 }, () => fc.option(group))),
  places: fc.tuple(...Array.from({ length: 6 }, () => fc.option(place))),
})
export type School = typeof school extends fc.Arbitrary<infer Value> ? Value : never

/** Returns a school as an academy file. */
export function documentOf({ terms, users, courses, lessons, groups, places }: School) {
  const there = places.flatMap((place, index) => {
    const [userId, courseId] = [index % 3, Math.floor(index / 3)]
    return place && users[userId] && courses[courseId]
      ? [{ userId: `U${userId}`, courseId: `C${courseId}`, ...place }]
      : []
  })
  const numbered = <Item>(items: readonly (Item | null)[]) =>
    items.flatMap((item, n) => (item === null ? [] : [{ n, ...item }]))
  return {
    learnctl: 1,
    terms: numbered(terms).map(({ n, ...term }) => ({ externalId: `T${n}`, ...term })),
    users: numbered(users).map(({ n, ...user }) => ({
      ...{ externalId: `U${n}`, email: `u${n}@b.example` },
      ...user,
    })),
    courses: numbered(courses).map(({ n, modules, term, ...course }) => {
      const own = lessons.filter(({ course }) => course === n)
      const inModule = (wanted: number | null) =>
        own
          .filter(({ module }) => (module < modules.length ? module : null) === wanted)
          .map(({ course: _course, module: _module, ...lesson }) => lesson)
      return {
        ...course,
        externalId: `C${n}`,
        term: terms[Number(term?.slice(1))] ? term : null,
        modules: modules.map((title, index) => ({ title, lessons: inModule(index) })),
        lessons: inModule(null),
      }
    }),
    groups: numbered(groups).map(({ n, course, members, ...group }) => ({
      ...{ ...group, externalId: `G${n}` },
      course: course !== null && courses[course] ? `C${course}` : null,
      members: members.filter((user) => users[user]).map((user) => `U${user}`),
    })),
    enrollments: there.map(({ scores: _, ...enrollment }) => enrollment),
    grades: there.flatMap(({ scores, userId, courseId, status }) =>
      status === 'inactive'
        ? []
        : Object.entries(scores).map(([itemId, scoreGiven]) => ({
            ...{ learnerId: userId, courseId, itemId, scoreGiven },
          })),
    ),
  }
}

/** Runs commands on an academy. */
interface Academy {
  run(line: string): Promise<Ran>
}

/** Makes an academy equal to a school. */
export async function apply(cli: Academy & Pick<TestCli, 'cwd'>, wanted: School): Promise<void> {
  writeFileSync(join(cli.cwd, 'school.json'), JSON.stringify(documentOf(wanted)))
  // What the platform refuses is left out; the rest is a change.
  for (let run = 0; run < 2; run += 1) {
    if ((await cli.run('apply school.json --label ci --prune --skip-invalid --yes')).code === 0) return
  }
}

/** Returns an academy as files, without times, and the places of its lessons. */
export async function stateOf(cli: Academy): Promise<string> {
  const { stdout: dump } = await cli.run('dump')
  const { stdout: lessons } = await cli.run('lessons list --all -o json')
  const places = (JSON.parse(lessons) as Record<string, unknown>[])
    .map(({ courseId, order, externalId }) => `${courseId} ${order} ${externalId}\n`)
    .sort()
  return dump.replaceAll(/^ +(gradedAt|enrolledAt):.*\n/gm, '') + places.join('')
}

/** Returns the changes of an academy, the newest first. */
export async function changesOf(cli: Academy): Promise<Change[]> {
  return JSON.parse((await cli.run('undo list --all -o json')).stdout) as Change[]
}
