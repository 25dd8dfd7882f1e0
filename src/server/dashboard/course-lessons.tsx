import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { type Lesson, lessons } from '../../contract/lessons.ts'
import { Card } from '../../report/elements.tsx'
import { isRole } from '../http/handler.ts'
import { calendarLink } from './calendars.tsx'
import { ask, type SignedInRequest } from './call-api.ts'
import { commandSteps, coursePage } from './course.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { type List, listTable } from './list.tsx'
import { nextPage } from './list-parameters.tsx'
import { fileLinks, tableFilePages } from './table-file.tsx'
import {
  countOf,
  Day,
  factList,
  formatPercent,
  type ListedFacts,
  Minute,
  none,
  recordUrl,
} from './values.tsx'

const page: DashboardPage = {
  path: '/dashboard/courses/:courseId/lessons',
  isLong: () => true,
  async show(signedIn) {
    const course = await ask(signedIn, courses.get)
    return coursePage(
      signedIn,
      course,
      { title: `Lessons of ${course.title}`, shown: 'Lessons' },
      await lessonsOf(signedIn, course),
      <Card id="settings" title="Settings">
        {factList(courseFacts(course))}
        {calendarLink(signedIn, { course: course.id })}
      </Card>,
    )
  },
}

const files = tableFilePages({
  path: '/dashboard/courses/:courseId/lessons',
  operation: lessons.list,
  omit: ['contentBlocks', 'assessments'],
  async read(signedIn, page) {
    const { id } = await ask(signedIn, courses.get)
    return ask(signedIn, lessons.list, { query: { ...page, course_id: id } })
  },
})

export const courseLessonsPages = [page, ...files]

/** The content of each is read with it. */
const maxLessons = 50

/** Lessons are those on this page; without a module, those outside of all. */
interface Part {
  readonly module: Course['modules'][number] | undefined
  readonly lessons: readonly Lesson[]
}

async function lessonsOf(signedIn: SignedInRequest, course: Course): Promise<Child> {
  const cursor = signedIn.query.get('cursor') ?? undefined
  const { data, nextCursor } = await ask(signedIn, lessons.list, {
    query: { course_id: course.id, limit: String(maxLessons), cursor },
  })
  const isWhole = nextCursor === null && cursor === undefined
  const parts = partsOf(course, data).flatMap(({ module, lessons }): Part[] => {
    if (isWhole) return [{ module, lessons: lessons.map((lesson, at) => ({ ...lesson, order: at + 1 })) }]
    return lessons.length > 0 ? [{ module, lessons }] : []
  })
  return (
    <section class="card lessons" aria-labelledby="lessons">
      <h2 id="lessons">Lessons</h2>
      {parts.length === 0 ? noLessons(signedIn, course) : null}
      {parts.map((part) => partOfCourse(signedIn, part, course.modules.length > 0))}
      {nextPage(signedIn, nextCursor, 'lessons')}
      {data.length === 0
        ? null
        : fileLinks(signedIn, `${recordUrl({ base: '' }, 'courses', course.id)}/lessons`)}
    </section>
  )
}

function partsOf({ modules }: Course, found: readonly Lesson[]): Part[] {
  const ofModule = Map.groupBy(found, ({ moduleId }) => moduleId)
  const isKnown = new Set(modules.map(({ id }) => id))
  const others = found.filter(({ moduleId }) => moduleId === null || !isKnown.has(moduleId))
  return [
    ...modules.map((module) => ({ module, lessons: ofModule.get(module.id ?? null) ?? [] })),
    ...(others.length === 0 ? [] : [{ module: undefined, lessons: others }]),
  ]
}

function partOfCourse(
  signedIn: SignedInRequest,
  { module, lessons: data }: Part,
  hasModules: boolean,
): Child {
  const title = module === undefined ? 'Without a module' : lineOf(module.title, 255)
  const caption = hasModules ? `Lessons: ${title}` : 'Lessons'
  return (
    <>
      {hasModules ? <h3>{title}</h3> : null}
      {module?.description ? <p class="text">{module.description}</p> : null}
      {listTable(signedIn, { ...lessonList, caption }, { data }, <p class="none">No lessons.</p>)}
    </>
  )
}

const lessonList: Pick<List<Lesson>, 'columns'> = {
  columns: [
    {
      name: 'Lesson',
      cell: ({ order, title, externalId, status }) => (
        <>
          {`${order}. ${lineOf(title, 255)}`}
          {noteOf(externalId, status === 'published' ? null : status)}
        </>
      ),
    },
    { name: 'Due', look: 'broad', cell: dueDates },
    {
      name: 'Content',
      look: 'broad',
      cell: ({ contentBlocks, assessments }) => contentOf(contentBlocks.length, assessments),
    },
    {
      name: 'Duration',
      look: 'figures',
      cell: ({ durationMinutes }) => (durationMinutes === null ? none : durationText(durationMinutes)),
    },
  ],
}

function noteOf(...words: readonly (string | null)[]): Child {
  const given = words.filter((word) => word !== null)
  return given.length === 0 ? null : <small>{given.map((word) => lineOf(word, 64)).join(' · ')}</small>
}

/** Of a lesson, and of its assessments that are due at another time. */
function dueDates({ dueAt, assessments }: Lesson): Child {
  const others = assessments.filter((one) => one.dueAt !== null && one.dueAt !== dueAt)
  if (dueAt === null && others.length === 0) return none
  return (
    <>
      {dueAt === null ? null : <Minute time={dueAt} />}
      {others.map(({ title, dueAt: due }) => (
        <small>
          {lineOf(title, 64)}: {due === null ? null : <Minute time={due} />}
        </small>
      ))}
    </>
  )
}

function contentOf(blocks: number, assessments: Lesson['assessments']): Child {
  const kinds = Map.groupBy(assessments, ({ type }) => type)
  const words = [...kinds].map(([type, { length }]) =>
    length === 1 ? type : countOf(length, type, type === 'quiz' ? 'quizzes' : `${type}s`),
  )
  return [...(blocks === 0 ? [] : [countOf(blocks, 'block')]), ...words].join(', ') || none
}

/** `45 min`, `2 h 30 min`. */
function durationText(minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  if (hours === 0) return `${rest} min`
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`
}

function noLessons(signedIn: SignedInRequest, { id }: Course): Child {
  const steps = [['Add a lesson', `learnctl lessons create --course ${id} --title "First lesson"`]]
  return (
    <>
      <p>No lessons yet.</p>
      {isRole(signedIn, ...lessons.create.roles) ? commandSteps(steps) : null}
    </>
  )
}

const moveOnWords: Readonly<Record<Course['assessmentCriteria']['moveOn'], string>> = {
  Completed: 'Completed progress',
  Passed: 'A passing grade',
  CompletedAndPassed: 'Completed progress and a passing grade',
  CompletedOrPassed: 'Completed progress or a passing grade',
  NotApplicable: 'Neither progress nor grade',
}

function courseFacts(course: Course): ListedFacts {
  const { assessmentCriteria, progressTracking, learningObjectives, tags, termName, language } = course
  const { weights } = assessmentCriteria
  return [
    ['Term', termName && lineOf(termName, 255)],
    ['Difficulty', course.difficulty],
    ['Language', language && <code>{language}</code>],
    ['Duration', course.durationMinutes !== null && durationText(course.durationMinutes)],
    ['Passing score', formatPercent(assessmentCriteria.passingScore)],
    ['Completes an enrolment', moveOnWords[assessmentCriteria.moveOn]],
    ['Completion threshold', formatPercent(progressTracking.completionThreshold)],
    [
      'Weights',
      weights.length > 0 &&
        weights.map(({ name, weight }) => `${lineOf(name, 64)} ${formatPercent(weight)}`).join(', '),
    ],
    ['Tags', tags.length > 0 && lineOf(tags.join(', '), 500)],
    [
      'Learning objectives',
      learningObjectives.length > 0 && (
        <ul class="plain">
          {learningObjectives.map((text) => (
            <li>{lineOf(text, 500)}</li>
          ))}
        </ul>
      ),
    ],
    ['Updated', <Day time={course.updatedAt} />],
    ['ID', <code>{course.id}</code>],
  ]
}
