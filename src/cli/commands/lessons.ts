import type { LessonInput, lessons } from '../../contract/lessons.ts'
import type { QueryInput } from '../../contract/operation.ts'
import type { Command } from '../command/command.ts'
import type { FieldFlags, QueryFlags } from '../command/flag.ts'
import { call } from '../operation/operation-command.ts'
import { inVersion, thingName } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'

const contract = async () => (await import('../../contract/lessons.ts')).lessons

const statuses = ['draft', 'published']

const fields = {
  courseId: { name: 'course', summary: 'Course: its id, or ext:<your own id>', required: true },
  title: { summary: 'Title', required: true },
  moduleId: { name: 'module', summary: 'Id of the module of the course that it belongs to' },
  description: { summary: 'What it is about' },
  order: { kind: 'number', summary: 'Its place in the course; after the last one unless given' },
  durationMinutes: { kind: 'number', summary: 'How long it takes' },
  status: { summary: 'Draft or published', choices: statuses },
  learningObjectives: { kind: 'texts', summary: 'A learning objective; once for each' },
  contentBlocks: { kind: 'json', summary: 'What is in it: [{"type": "markdown", "body": …}]' },
  assessments: { kind: 'json', summary: 'What is asked in it: [{"type": "quiz", "title": …}]' },
  externalId: { summary: 'Your own id for it' },
  managedBy: { summary: 'What manages it from elsewhere' },
} satisfies FieldFlags<LessonInput>

const filters = {
  course_id: { name: 'course', summary: 'Only of this course' },
  module_id: { name: 'module', summary: 'Only of this module' },
  status: { summary: 'Only these', choices: statuses },
  external_id: { summary: 'Only the one with this id of yours' },
  sort: { summary: 'Order by order, createdAt, updatedAt or title; with - in front from the end' },
} satisfies QueryFlags<QueryInput<typeof lessons.list>>

const lesson = { name: 'lesson', summary: 'Lesson: its id, or ext:<your own id>' }
const columns = ['order', 'title', 'status', 'version', 'updatedAt', 'id', 'courseId']

/** `learnctl lessons …` */
export const commands: readonly Command[] = [
  call({
    name: 'list',
    summary: 'List lessons',
    operation: async () => (await contract()).list,
    query: filters,
    columns,
    examples: ['lessons list --course ext:first-course'],
  }),
  call({
    name: 'get',
    summary: 'Show a lesson',
    operation: async () => (await contract()).get,
    arguments: { lessonId: lesson },
    columns,
    examples: ['lessons get ext:welcome -o yaml'],
  }),
  call({
    name: 'create',
    summary: 'Create a lesson in a course',
    operation: async () => (await contract()).create,
    fields,
    columns,
    done: (answer) => `Created lesson ${thingName(answer)}`,
    examples: [
      'lessons create --course ext:first-course --title "The tides" --duration-minutes 45',
      'lessons create --course ext:first-course --body @lesson.yaml',
    ],
  }),
  call({
    name: 'update',
    summary: 'Change attributes of a lesson',
    operation: async () => (await contract()).update,
    arguments: { lessonId: lesson },
    fields: {
      ...fields,
      courseId: { name: 'course', summary: fields.courseId.summary },
      title: { summary: fields.title.summary },
    },
    merge: true,
    versioned: true,
    columns,
    done: (answer, { arguments: { lesson } }) =>
      `Updated lesson ${thingName(answer, lesson)}${inVersion(answer)}`,
    examples: ['lessons update ext:welcome --order 1', 'lessons update ext:welcome --unset duration-minutes'],
  }),
  call({
    name: 'delete',
    summary: 'Delete a lesson',
    operation: async () => (await contract()).delete,
    arguments: { lessonId: lesson },
    destroys: {
      action: ({ arguments: { lesson } }) => `delete lesson ${lesson}`,
      question: async (look, { arguments: { lesson = '' } }) => {
        const found = await look.one((await contract()).get, { lessonId: lesson })
        return {
          text: `Delete lesson ${thingName(found, lesson)}`,
          consequence: 'This cannot be undone.',
          typed: String(valueAt(found, 'title') ?? lesson),
        }
      },
    },
    done: (_, { arguments: { lesson } }) => `Deleted lesson ${lesson}`,
    examples: ['lessons delete ext:welcome --yes'],
  }),
]
