import { memberOf } from '../../client/member.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import type { GradeInput, grades } from '../../contract/grades.ts'
import type { QueryInput } from '../../contract/operation.ts'
import { wholeCourse } from '../../contract/whole-course.ts'
import type { Command, Given } from '../command/command.ts'
import type { Question } from '../command/confirm.ts'
import type { FieldFlags, QueryFlags } from '../command/flag.ts'
import { courseFilter, userFilter } from '../command/reference-flags.ts'
import { sortFlag } from '../command/sort-flag.ts'
import type { Lookup } from '../operation/lookup.ts'
import { call } from '../operation/operation-command.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.grades

const fields = {
  learnerId: {
    name: 'learner',
    summary: 'Learner: id, external id or e-mail address',
    required: true,
  },
  courseId: { name: 'course', summary: 'Course: id or external id', required: true },
  scoreGiven: {
    name: 'score',
    kind: 'number',
    summary: 'Score of the learner, or none to clear the grade',
    none: true,
    required: true,
  },
  scoreMaximum: { name: 'maximum', kind: 'number', summary: 'Score that counts as 100%', default: '100' },
  itemId: {
    name: 'item',
    summary: 'What was graded, such as exam-1; $course is the course as a whole',
    default: '$course',
  },
  label: { summary: 'Name of the item' },
  weight: {
    kind: 'number',
    summary: 'Weight of the item in the grade of the course',
    default: 'from the assessment criteria, else equal weights',
  },
  source: { summary: 'Where the grade comes from', default: 'manual' },
  published: { kind: 'switch', summary: 'Show the grade to the learner, and count it', default: 'on' },
  gradedAt: { kind: 'time', summary: 'Day or time of grading, or how long ago', default: 'now' },
} satisfies FieldFlags<GradeInput>

const filters = {
  course_id: courseFilter,
  learner_id: userFilter('learner'),
  item_id: { name: 'item', summary: 'Filter by item' },
  source: { summary: 'Filter by source' },
  updated_since: {
    kind: 'time',
    summary: 'Updated since this day or time, or within a duration such as 30d',
  },
  sort: sortFlag(['createdAt', 'updatedAt', 'gradedAt'], '-createdAt'),
} satisfies QueryFlags<QueryInput<typeof grades.list>>

const grade = { name: 'grade', summary: 'Id of the grade' }
const columns = [
  'userEmail',
  'courseTitle',
  'itemId',
  'percent',
  'gradedAt',
  'label',
  'scoreGiven',
  'scoreMaximum',
  'id',
]

/** Names whose grade it is, of what, and how much. */
async function deletion(look: Lookup, { arguments: { grade = '' } }: Given): Promise<Question> {
  const consequence = 'The grade of the course is calculated again. This cannot be undone.'
  const found = await look.one((await contract()).get, { gradeId: grade })
  if (!isJsonObject(found)) return { text: `Delete grade ${grade}`, consequence }
  const { userEmail, itemId, courseTitle, scoreGiven, scoreMaximum } = found
  const score = scoreGiven === null ? 'cleared grade' : `grade ${scoreGiven} of ${scoreMaximum}`
  const item = itemId === wholeCourse ? '' : ` for ${itemId}`
  const text = `Delete the ${score} of ${userEmail}${item} in course ${courseTitle}`
  return { text, consequence }
}

/** `learnctl grades …` */
export const commands: readonly Command[] = [
  call({
    name: 'list',
    summary: 'List grades',
    operation: async () => (await contract()).list,
    query: filters,
    columns,
    examples: ['grades list --course ext:AAA-2014J --item 1758 --all'],
  }),
  call({
    name: 'get',
    summary: 'Show a grade',
    operation: async () => (await contract()).get,
    arguments: { gradeId: grade },
    columns,
    examples: ['grades get "$(learnctl grades list --learner ext:65002 --item 1758 -q)"'],
  }),
  call({
    name: 'set',
    summary: 'Record a grade of a learner in a course',
    description:
      'Learner, course, item and source identify a grade: a second one replaces it, unless it was graded earlier (exit 6).\nThe grade of the course follows at once: that of the course as a whole, else the mean of its items by their weights.\nGrades without a score, and those that are not published, do not count.',
    operation: async () => (await contract()).set,
    fields,
    columns,
    done: (answer, { flags }) => {
      const item = flags['item'] === undefined ? '' : ` for ${flags['item']}`
      const whose = `the grade of learner ${flags['learner'] ?? memberOf(answer, 'learnerId')}${item} in course ${flags['course'] ?? memberOf(answer, 'courseId')}`
      if (memberOf(answer, 'scoreGiven') === null) return `Cleared ${whose}`
      const hidden = memberOf(answer, 'published') === false ? ', not published' : ''
      return `Set ${whose} to ${memberOf(answer, 'scoreGiven')} of ${memberOf(answer, 'scoreMaximum')}${hidden}`
    },
    examples: [
      'grades set --learner ext:11391 --course ext:AAA-2013J --score 85',
      'grades set --learner ext:11391 --course ext:AAA-2013J --item exam-1 --score 17 --maximum 20 --weight 60',
      'grades set --learner ext:11391 --course ext:AAA-2013J --item exam-1 --score none',
    ],
  }),
  call({
    name: 'delete',
    summary: 'Delete grades',
    operation: async () => (await contract()).delete,
    arguments: { gradeId: grade },
    several: 'grades',
    destroys: {
      action: ({ arguments: { grade } }) => `delete grade ${grade}`,
      question: deletion,
      several: async () => ({
        consequence: 'The grades of their courses are calculated again. This cannot be undone.',
      }),
    },
    done: (_, { arguments: { grade } }) => `Deleted grade ${grade}`,
    examples: ['grades delete "$(learnctl grades list --learner ext:65002 --item 1758 -q)" --yes'],
  }),
  call({
    name: 'history',
    summary: 'List the history of a grade, newest first',
    operation: async () => (await contract()).history,
    arguments: { gradeId: grade },
    columns: ['version', 'scoreGiven', 'scoreMaximum', 'gradedAt', 'recordedAt', 'recordedByEmail'],
    examples: ['grades history "$(learnctl grades list --learner ext:65002 --item 1758 -q)"'],
  }),
  importCommand('grades', 'grades', ['grades import grades.csv']),
  exportCommand({
    dataset: 'grades',
    noun: 'grades',
    query: filters,
    order: 'createdAt',
    examples: ['grades export --course ext:AAA-2014J --file all-grades.csv'],
  }),
]
