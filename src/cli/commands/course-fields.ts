import type { CourseInput } from '../../contract/course.ts'
import type { FieldFlags } from '../command/flag.ts'

/** The levels of a course, the easiest first. */
export const difficulties = ['beginner', 'intermediate', 'advanced', 'expert']
/** The states of a course. */
export const courseStatuses = ['draft', 'published', 'archived']

/** The flags of a course's fields. */
export const courseFields = {
  title: { summary: 'Title', required: true },
  description: { summary: 'Description' },
  difficulty: { summary: 'Difficulty', choices: difficulties, default: 'beginner' },
  learningObjectives: { kind: 'texts', summary: 'Learning objective' },
  modules: { kind: 'json', summary: 'Modules, as [{"title": …, "description": …}]' },
  tags: { kind: 'words', summary: 'Tags' },
  language: { summary: 'Language, such as en or pt-BR' },
  durationMinutes: { kind: 'number', summary: 'Duration in minutes' },
  status: { summary: 'Status', choices: courseStatuses, default: 'draft' },
  externalId: { summary: 'Your own id for the course' },
  managedBy: { summary: 'External system that manages this record' },
  'assessmentCriteria.passingScore': { kind: 'number', summary: 'Passing score, 0–100', default: '70' },
  'assessmentCriteria.moveOn': {
    summary: 'When an enrolment counts as completed',
    default: 'Completed',
    choices: ['Completed', 'Passed', 'CompletedAndPassed', 'CompletedOrPassed', 'NotApplicable'],
  },
  'assessmentCriteria.weights': { kind: 'json', summary: 'Weights, as [{"name": "exam", "weight": 60}]' },
  'adaptiveDifficulty.enabled': {
    name: 'adaptive-difficulty',
    kind: 'switch',
    summary: 'Adapt the difficulty to the learner',
    default: 'off',
  },
  'adaptiveDifficulty.minLevel': { summary: 'Lowest difficulty to adapt to', choices: difficulties },
  'adaptiveDifficulty.maxLevel': { summary: 'Highest difficulty to adapt to', choices: difficulties },
  'adaptiveDifficulty.raiseAtScore': {
    kind: 'number',
    summary: 'Score at which the difficulty rises',
    default: '85',
  },
  'adaptiveDifficulty.lowerAtScore': {
    kind: 'number',
    summary: 'Score at which the difficulty falls',
    default: '50',
  },
  'adaptiveDifficulty.window': {
    kind: 'number',
    summary: 'Number of recent scores considered',
    default: '3',
  },
  'progressTracking.enabled': {
    name: 'progress-tracking',
    kind: 'switch',
    summary: 'Track progress',
    default: 'on',
  },
  'progressTracking.completionThreshold': {
    kind: 'number',
    summary: 'Percentage at which the course counts as completed',
    default: '100',
  },
} satisfies FieldFlags<CourseInput>
