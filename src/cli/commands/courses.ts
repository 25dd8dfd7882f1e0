import { isJsonObject } from '../../codec/json-object.ts'
import type { CourseInput } from '../../contract/course-attributes.ts'
import type { courses } from '../../contract/courses.ts'
import type { QueryInput } from '../../contract/operation.ts'
import type { Command, Given } from '../command/command.ts'
import type { Question } from '../command/confirm.ts'
import type { FieldFlags, QueryFlags } from '../command/flag.ts'
import { fieldPath } from '../operation/field-path.ts'
import type { Lookup } from '../operation/lookup.ts'
import { call } from '../operation/operation-command.ts'
import { countOf, inVersion, thingName } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'
import { CommandError } from '../terminal/errors.ts'

const contract = async () => (await import('../../contract/courses.ts')).courses

const difficulties = ['beginner', 'intermediate', 'advanced', 'expert']
const statuses = ['draft', 'published', 'archived']

const fields = {
  title: { summary: 'Title', required: true },
  description: { summary: 'What it is about' },
  difficulty: { summary: 'How hard it is', choices: difficulties },
  learningObjectives: { kind: 'texts', summary: 'A learning objective; once for each' },
  modules: { kind: 'json', summary: 'Its modules: [{"title": …, "description": …}]' },
  tags: { kind: 'words', summary: 'Tags' },
  language: { summary: 'Language, such as en or pt-BR' },
  durationMinutes: { kind: 'number', summary: 'How long it takes' },
  status: { summary: 'State', choices: statuses },
  externalId: { summary: 'Your own id for it' },
  managedBy: { summary: 'What manages it from elsewhere' },
  'assessmentCriteria.passingScore': { kind: 'number', summary: 'Score from which it is passed, 0 to 100' },
  'assessmentCriteria.moveOn': {
    summary: 'When an enrolment is completed',
    choices: ['Completed', 'Passed', 'CompletedAndPassed', 'CompletedOrPassed', 'NotApplicable'],
  },
  'assessmentCriteria.weights': { kind: 'json', summary: 'Weights: [{"name": "exam", "weight": 60}]' },
  'adaptiveDifficulty.enabled': {
    name: 'adaptive-difficulty',
    kind: 'switch',
    summary: 'Let the difficulty follow the learner',
  },
  'adaptiveDifficulty.minLevel': { summary: 'Easiest level it goes down to', choices: difficulties },
  'adaptiveDifficulty.maxLevel': { summary: 'Hardest level it goes up to', choices: difficulties },
  'adaptiveDifficulty.raiseAtScore': { kind: 'number', summary: 'Score from which it gets harder' },
  'adaptiveDifficulty.lowerAtScore': { kind: 'number', summary: 'Score from which it gets easier' },
  'adaptiveDifficulty.window': { kind: 'number', summary: 'How many scores that looks at' },
  'progressTracking.enabled': { name: 'progress-tracking', kind: 'switch', summary: 'Keep progress' },
  'progressTracking.completionThreshold': {
    kind: 'number',
    summary: 'Percentage from which it counts as completed',
  },
} satisfies FieldFlags<CourseInput>

const filters = {
  status: { kind: 'words', summary: 'Only these', choices: statuses },
  difficulty: { kind: 'words', summary: 'Only these', choices: difficulties },
  q: { name: 'search', former: 'q', summary: 'Search titles and descriptions' },
  tag: { summary: 'Only with this tag' },
  external_id: { summary: 'Only the one with this id of yours' },
  managed_by: { summary: 'Only what this manages' },
  updated_since: { kind: 'time', summary: 'Updated at or after this day or time, or this long ago (30d)' },
  sort: { summary: 'Order by createdAt, updatedAt, title or difficulty; with - in front from the end' },
} satisfies QueryFlags<QueryInput<typeof courses.list>>

const course = { name: 'course', summary: 'Course: its id, or ext:<your own id>' }
const version = { name: 'version', summary: 'Number of the version' }

const columns = ['title', 'status', 'difficulty', 'version', 'updatedAt', 'externalId', 'id']
const updateColumns = ['id', 'version', 'previousVersion', 'modifiedAttributes']

/** `Updated course Marine Biology (BIO-101), version 3` of an update's answer, or that it changed nothing. */
function updated(verb: string) {
  return (answer: unknown, { arguments: names }: Given): string => {
    const name = `course ${thingName(valueAt(answer, 'course'), names['course'])}`
    const same = valueAt(answer, 'version') === valueAt(answer, 'previousVersion')
    return `${same ? 'No changes to' : verb} ${name}${inVersion(answer)}`
  }
}

function move(name: string, status: CourseInput['status'], verb: string, summary: string): Command {
  return call({
    name,
    summary,
    operation: async () => (await contract()).update,
    arguments: { courseId: course },
    fixed: { status },
    versioned: true,
    columns: updateColumns,
    done: updated(verb),
    examples: [`courses ${name} ext:first-course`],
  })
}

/** Names what goes with a course; without `--force` throws a CommandError where that is more than the course itself. */
async function deletion(look: Lookup, { arguments: names, flags }: Given): Promise<Question> {
  const reference = names['course'] ?? ''
  const [{ get }, { lessons }, { enrollments }] = await Promise.all([
    contract(),
    import('../../contract/lessons.ts'),
    import('../../contract/enrollments.ts'),
  ])
  const found = await look.one(get, { courseId: reference })
  const counts = [
    [await look.count(lessons.list, { course_id: reference }), 'lesson'],
    [await look.count(enrollments.list, { course_id: reference }), 'enrolment'],
  ] as const
  const [[lessonCount]] = counts
  const content = counts.flatMap(([count, noun]) => (count ? [countOf(count, noun)] : []))
  const name = thingName(found, reference)
  if (lessonCount && flags['force'] !== true) {
    throw new CommandError('has_lessons', 'conflict', `Course ${name} has ${content.join(' and ')}`, {
      hint: `to delete all of it: learnctl courses delete ${reference} --force`,
    })
  }
  return {
    text: `Delete course ${name}${content.length > 0 ? ` with ${content.join(' and ')}` : ''}`,
    consequence: 'This cannot be undone.',
    typed: String(valueAt(found, 'title') ?? reference),
  }
}

/** The changes in an answer of `diff`, each with its field as a dotted path. */
function changesIn(answer: unknown): readonly unknown[] {
  const changes = valueAt(answer, 'changes')
  if (!Array.isArray(changes)) return []
  return changes
    .filter(isJsonObject)
    .map(({ pointer, from, to }) => ({ field: fieldPath(String(pointer)), from, to }))
}

/** `learnctl courses …` */
export const commands: readonly Command[] = [
  call({
    name: 'list',
    summary: 'List courses',
    operation: async () => (await contract()).list,
    query: filters,
    columns,
    examples: ['courses list --status published --sort title', 'courses list --all -o csv > courses.csv'],
  }),
  call({
    name: 'get',
    summary: 'Show a course',
    operation: async () => (await contract()).get,
    arguments: { courseId: course },
    columns,
    examples: ['courses get ext:AAA-2014J', 'courses get ext:AAA-2014J -o json'],
  }),
  call({
    name: 'create',
    summary: 'Create a course',
    operation: async () => (await contract()).create,
    fields,
    columns,
    done: (answer) => `Created course ${thingName(answer)}`,
    examples: [
      'courses create --title "Marine Biology" --difficulty beginner --tags science,sea',
      'courses create --body @course.yaml --title "Oceanography II"',
    ],
  }),
  call({
    name: 'update',
    summary: 'Change attributes of a course',
    operation: async () => (await contract()).update,
    arguments: { courseId: course },
    fields: { ...fields, title: { summary: fields.title.summary } },
    merge: true,
    versioned: true,
    columns: updateColumns,
    done: updated('Updated'),
    examples: ['courses update ext:first-course --passing-score 60 --unset language'],
  }),
  move('publish', 'published', 'Published', 'Make a course visible to learners'),
  move(
    'unpublish',
    'draft',
    'Unpublished',
    'Make a published course a draft again, while nobody has progress',
  ),
  move('archive', 'archived', 'Archived', 'Close a course'),
  call({
    name: 'delete',
    summary: 'Delete a course',
    operation: async () => (await contract()).delete,
    arguments: { courseId: course },
    query: { force: { kind: 'switch', summary: 'Also its lessons, enrolments, progress and grades' } },
    destroys: { action: ({ arguments: { course } }) => `delete course ${course}`, question: deletion },
    done: (_, { arguments: { course } }) => `Deleted course ${course}`,
    examples: ['courses delete ext:first-course --force --yes'],
  }),
  call({
    name: 'versions',
    summary: 'List the versions of a course',
    operation: async () => (await contract()).versions,
    arguments: { courseId: course },
    columns: ['version', 'createdAt', 'modifiedAttributes', 'userId'],
    examples: ['courses versions ext:first-course'],
  }),
  call({
    name: 'diff',
    summary: 'Compare two versions of a course',
    operation: async () => (await contract()).diff,
    arguments: { courseId: course, version },
    query: { to: { kind: 'number', summary: 'The other version; the present one unless given' } },
    rows: { columns: ['field', 'from', 'to'], from: changesIn },
    exits: (answer) => (changesIn(answer).length > 0 ? 'drift' : null),
    examples: ['courses diff ext:first-course 1', 'courses diff ext:first-course 1 --to 2'],
  }),
  call({
    name: 'restore',
    summary: 'Bring the attributes of an earlier version back, as a new version',
    operation: async () => (await contract()).restore,
    arguments: { courseId: course, version },
    columns: updateColumns,
    destroys: {
      action: ({ arguments: { course, version } }) => `restore course ${course} to version ${version}`,
      question: async (look, { arguments: { course = '', version } }) => ({
        text: `Restore course ${thingName(await look.one((await contract()).get, { courseId: course }), course)} to version ${version}`,
        consequence: 'The present attributes stay in its history.',
      }),
    },
    done: (answer, given) => updated(`Restored version ${given.arguments['version']} of`)(answer, given),
    examples: ['courses restore ext:first-course 1 --yes'],
  }),
]
