import { below, pageWords, type Words } from './record.ts'

export const learnerRowWords = {
  '': 'One learner in one course; the CSV has the same columns, in this order',
  learnerId: 'Id of the learner, usr_…',
  email: 'E-mail address of the learner',
  firstName: 'First name',
  lastName: 'Last name',
  externalId: 'Your own id for the learner',
  courseId: 'Id of the course, crs_…',
  courseTitle: 'Title of the course',
  difficulty: 'Level of the course',
  enrollmentStatus: 'Status of the enrolment',
  enrolledAt: 'When the learner was enrolled',
  progressStatus: 'Status of the progress; not_started without any',
  completionPercentage: 'Percentage of the course that is completed, 0–100',
  startedAt: 'When the learner first accessed the course; null before that',
  lastAccessed: 'When the learner last accessed the course; null if never',
  completedAt: 'When the learner first reached the completion threshold; null before that',
  gradePercent:
    'Grade of the learner in the course in per cent, above 100 where scores exceed their maximum; null without one',
  passed: 'Whether the grade reaches the passing score of the course; null without a grade',
  gradeUpdatedAt: 'When the newest of the grades that it comes from was graded; null without one',
  courseExternalId: 'The school’s own id of the course; null without one',
} satisfies Words

const counts = {
  enrollments: 'Number of enrolments, without removed ones unless enrollment_status asks for them',
  notStarted: 'Enrolments without progress, or at 0%',
  inProgress: 'Enrolments in progress',
  completed: 'Enrolments with completed progress',
  completionRate: 'Completed ÷ enrolments, 0–1; null without enrolments',
  averageCompletionPercentage: 'Mean of the completion percentages; null without enrolments',
  averageGradePercent: 'Mean of the grades; null without grades',
} satisfies Words

export const summaryWords = {
  '': 'Figures over all rows that match the filters, not only those of the page',
  learners: 'Number of learners',
  ...counts,
  medianCompletionPercentage: 'Median of the completion percentages; null without enrolments',
  distribution: 'Number of enrolments at 0–9%, 10–19% … 90–100%',
  byCourse: 'The same figures for each course',
  ...below('byCourse', {
    ...counts,
    '': 'The same figures for each course',
    courseId: learnerRowWords.courseId,
    courseTitle: learnerRowWords.courseTitle,
  }),
} satisfies Words

export const periodWords = {
  '': 'The period from start_date to end_date, as interpreted',
  start: 'Start of the period, inclusive; null for no start',
  end: 'End of the period, exclusive; null for no end',
} satisfies Words

export const learnerPageWords = {
  ...pageWords,
  '': 'One page of learners in courses',
  period: 'The period that the report is about; on the first page',
  summary: 'Figures over the whole report; on the first page',
} satisfies Words
