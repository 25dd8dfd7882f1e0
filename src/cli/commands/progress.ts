import { valueAt } from '../../tables/column.ts'
import type { Command } from '../command/command.ts'
import { progressFlags } from '../flags/learners.ts'
import { call } from '../operation/operation-command.ts'
import { courseIn, personIn } from '../operation/thing-name.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.progress

const learner = {
  name: 'learner',
  summary: 'Learner: id, external id or e-mail address',
  unlisted: ['--learner', '--user'],
}
const columns = [
  'courseTitle',
  'completionPercentage',
  'status',
  'lastAccessed',
  'startedAt',
  'completedAt',
  'courseId',
]

export const commands: readonly Command[] = [
  call({
    name: 'get',
    summary: 'Show the progress of a learner, by course',
    operation: async () => (await contract()).list,
    arguments: { learnerId: learner },
    query: progressFlags.learnerFilters,
    columns,
    examples: ['progress get ext:11391', 'progress get ext:11391 --course ext:AAA-2013J -o json'],
  }),
  call({
    name: 'set',
    summary: 'Record the progress of learners in a course',
    description:
      'The first record enrols the learner. Without --last-accessed the time is now, and the record replaces the\nstored one. With it, a record that is older than the stored one is refused (exit 6); one with the same time replaces\nit, so it is safe to repeat a command.',
    operation: async () => (await contract()).set,
    arguments: { learnerId: learner },
    several: 'progress records',
    fields: progressFlags.fields,
    presumed: (now) => ({ lastAccessed: now }),
    columns: ['userEmail', ...columns, 'learnerId'],
    done: (answer, given) => {
      const percentage = valueAt(answer, 'completionPercentage') ?? given.flags['completion']
      return `Set progress of ${personIn(answer, given.arguments['learner'])} in course ${courseIn(answer, given)} to ${percentage}%`
    },
    examples: [
      'progress set ext:11391 --course ext:first-course --completion 75',
      'progress set ext:11391 --course ext:first-course --completion 100 --last-accessed 2026-01-31T09:30:00Z',
    ],
  }),
  call({
    name: 'history',
    summary: 'List the progress history of a learner in a course, newest first',
    operation: async () => (await contract()).history,
    arguments: { learnerId: learner },
    query: progressFlags.historyFilters,
    columns: ['version', 'completionPercentage', 'status', 'lastAccessed', 'recordedAt'],
    examples: ['progress history ext:11391 --course ext:AAA-2013J'],
  }),
  importCommand({ dataset: 'progress', nouns: 'progress', examples: ['progress import progress.csv'] }),
  exportCommand({
    dataset: 'progress',
    people: true,
    query: progressFlags.filters,
    order: null,
    history: true,
    examples: [
      'progress export --course ext:AAA-2014J --file all-progress.csv',
      'progress export --history --learner ext:11391 -o jsonl',
    ],
  }),
]
