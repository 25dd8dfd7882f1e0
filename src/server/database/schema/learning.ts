import { deleted, integer, orNull, real, type Table, text, withDefault } from './table.ts'

const enrollmentColumns = {
  id: text,
  course_id: text,
  user_id: text,
  role: text,
  status: text,
  enrolled_at: text,
  completed_at: orNull(text),
  source: text,
  managed_by: orNull(text),
  version: integer,
  created_at: text,
  updated_at: text,
}

/** `user_email` copies the user's address, which the learners of a course are sorted by. */
const enrollments: Table = {
  name: 'enrollments',
  columns: { ...enrollmentColumns, user_email: withDefault(text, '') },
  key: 'id',
  unique: ['user_id, course_id, role'],
  references: [
    { from: 'course_id', to: 'courses (id)', cascade: true },
    { from: 'user_id', to: 'users (id)' },
  ],
  indexes: [
    'create index enrollments_by_created_at on enrollments (created_at, id, status, role)',
    'create index enrollments_by_updated_at on enrollments (updated_at, id, status, role)',
    'create index enrollments_by_enrolled_at on enrollments (enrolled_at, id, status, role)',
    'create index enrollments_by_role on enrollments (role, status, created_at, id, updated_at, enrolled_at)',
    'create index enrollments_by_course on enrollments (course_id, created_at, id, status, role, user_id, updated_at, enrolled_at)',
    "create index enrollments_by_email on enrollments (course_id, user_email, user_id, status) where role = 'learner'",
  ],
}

/**
 * `risen_at` is when the percentage last rose, or null if unknown. A query by period over all courses goes course by
 * course: another index would make each change of progress slower.
 */
const progress: Table = {
  name: 'progress',
  columns: {
    user_id: text,
    course_id: text,
    percentage: real,
    status: text,
    started_at: orNull(text),
    last_accessed: text,
    completed_at: orNull(text),
    version: integer,
    updated_at: text,
    risen_at: orNull(text),
  },
  key: 'user_id, course_id',
  inKeyOrder: true,
  references: [
    { from: 'user_id', to: 'users (id)' },
    { from: 'course_id', to: 'courses (id)', cascade: true },
  ],
  indexes: ['create index progress_by_course_and_time on progress (course_id, last_accessed)'],
}

/** A prefix of their key refers to the progress record they belong to. */
const progressSteps: Table = {
  name: 'progress_steps',
  columns: {
    user_id: text,
    course_id: text,
    version: integer,
    percentage: real,
    status: text,
    last_accessed: text,
    recorded_at: text,
  },
  key: 'user_id, course_id, version',
  inKeyOrder: true,
  references: [{ from: 'user_id, course_id', to: 'progress (user_id, course_id)', cascade: true }],
}

/** A cleared grade keeps a number in `score_given`. */
const grades: Table = {
  name: 'grades',
  columns: {
    id: text,
    user_id: text,
    course_id: text,
    source: text,
    item_id: text,
    label: text,
    score_given: real,
    score_maximum: real,
    weight: orNull(real),
    graded_at: text,
    version: integer,
    created_at: text,
    updated_at: text,
    cleared: withDefault(integer, 0),
    published: withDefault(integer, 1),
    delivery_id: orNull(text),
  },
  key: 'user_id, course_id, source, item_id',
  inKeyOrder: true,
  references: [
    { from: 'user_id', to: 'users (id)' },
    { from: 'course_id', to: 'courses (id)', cascade: true },
  ],
  indexes: [
    'create unique index grades_by_id on grades (id)',
    'create index grades_by_course on grades (course_id, created_at, id, item_id, source)',
    'create index grades_by_created_at on grades (created_at, id)',
    'create index grades_by_updated_at on grades (updated_at, id)',
    'create index grades_by_graded_at on grades (graded_at, id)',
    'create index grades_by_item on grades (item_id, created_at, id)',
    'create index grades_by_source on grades (source, created_at, id)',
    'create index grades_by_course_item on grades (course_id, item_id, created_at)',
  ],
}

const gradeSteps: Table = {
  name: 'grade_steps',
  columns: {
    grade_id: text,
    version: integer,
    score_given: real,
    score_maximum: real,
    graded_at: text,
    recorded_at: text,
    recorded_by: text,
    cleared: withDefault(integer, 0),
    published: withDefault(integer, 1),
    delivery_id: orNull(text),
  },
  key: 'grade_id, version',
  inKeyOrder: true,
  references: [{ from: 'grade_id', to: 'grades (id)', cascade: true }],
}

/** Line items that other systems made over OneRoster; `id` is the id that they gave. */
const lineItems: Table = {
  name: 'line_items',
  columns: {
    id: text,
    course_id: text,
    item_id: text,
    title: text,
    description: text,
    category_id: text,
    assign_date: text,
    due_date: text,
    score_minimum: real,
    score_maximum: real,
    created_at: text,
    updated_at: text,
  },
  key: 'id',
  unique: ['course_id, item_id'],
  references: [{ from: 'course_id', to: 'courses (id)', cascade: true }],
}

/**
 * What other systems said of a grade over OneRoster, besides its score. `sourced_id` is the id that they gave; `score` is
 * one that does not count.
 */
const results: Table = {
  name: 'results',
  columns: {
    grade_id: text,
    sourced_id: text,
    score_status: text,
    score: orNull(real),
    comment: text,
  },
  key: 'grade_id',
  unique: ['sourced_id'],
  references: [{ from: 'grade_id', to: 'grades (id)', cascade: true }],
}

const courseGrades: Table = {
  name: 'course_grades',
  columns: {
    user_id: text,
    course_id: text,
    percent: real,
    updated_at: text,
  },
  key: 'user_id, course_id',
  inKeyOrder: true,
  references: [
    { from: 'user_id', to: 'users (id)' },
    { from: 'course_id', to: 'courses (id)', cascade: true },
  ],
  indexes: ['create index course_grades_by_course on course_grades (course_id, percent)'],
}

/** Without the address, which may change or be erased before the course is restored. */
const deletedEnrollments = deleted(
  { ...enrollments, columns: enrollmentColumns },
  {
    key: 'course_id, id',
    indexes: [
      "create index deleted_enrollments_by_instructor on deleted_enrollments (user_id, course_id, status) where role = 'instructor'",
      'create index deleted_enrollments_by_user on deleted_enrollments (user_id, course_id, id)',
    ],
  },
)

const deletedProgress = deleted(progress, {
  key: 'course_id, user_id',
  indexes: ['create index deleted_progress_by_user on deleted_progress (user_id, course_id)'],
})

const deletedProgressSteps = deleted(progressSteps, { key: 'course_id, user_id, version' })

const deletedGrades = deleted(grades, {
  key: 'course_id, user_id, source, item_id',
  indexes: ['create index deleted_grades_by_user on deleted_grades (user_id, id)'],
})

const deletedGradeSteps = deleted(gradeSteps, { key: 'grade_id, version' })

const deletedLineItems = deleted(lineItems, {
  key: 'id',
  indexes: ['create index deleted_line_items_by_course on deleted_line_items (course_id, id)'],
})

const deletedResults = deleted(results, { key: 'grade_id' })

const deletedCourseGrades = deleted(courseGrades, {
  key: 'course_id, user_id',
  indexes: ['create index deleted_course_grades_by_user on deleted_course_grades (user_id, course_id)'],
})

export const learningTables: readonly Table[] = [
  enrollments,
  progress,
  progressSteps,
  grades,
  gradeSteps,
  lineItems,
  results,
  courseGrades,
  deletedEnrollments,
  deletedProgress,
  deletedProgressSteps,
  deletedGrades,
  deletedGradeSteps,
  deletedLineItems,
  deletedResults,
  deletedCourseGrades,
]

export const lineItemTables: readonly Table[] = [lineItems, results, deletedLineItems, deletedResults]
