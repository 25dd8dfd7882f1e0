/** Dates and numbers follow any language. */
export const reportLanguages = ['en', 'de'] as const
export type ReportLanguage = (typeof reportLanguages)[number]

/** Numbers, dates and titles are passed as formatted text. */
const en = {
  title: 'Learning report',
  asOf: (day: string) => `as of ${day}`,
  activityIn: (period: string) => `activity ${period}`,
  courses: (count: number, text: string) => `${text} ${count === 1 ? 'course' : 'courses'}`,
  learnersCounted: (count: number, text: string) => `${text} ${count === 1 ? 'learner' : 'learners'}`,
  enrollmentsCounted: (count: number, text: string) => `${text} ${count === 1 ? 'enrolment' : 'enrolments'}`,
  standOut: 'What stands out',
  noLearners: 'No learners are enrolled yet, so there is nothing to report.',
  figures: 'Key figures',
  learners: 'Learners',
  enrollments: 'Enrolments',
  completed: 'Completed',
  inProgress: 'In progress',
  notStarted: 'Not started',
  passRate: 'Pass rate',
  medianGrade: 'Median grade',
  averageGrade: 'Average grade',
  inactive: 'Inactive',
  stuck: 'Stuck',
  notPassed: 'Not passed',
  inactiveMeans: (days: string) => `No access for ${days} days, not completed`,
  stuckMeans: (percent: string, days: string) => `Below ${percent} completed, no progress for ${days} days`,
  notPassedMeans: 'Grade below the passing score of the course',
  findings: {
    completion: (completed: string, enrollments: string, notStarted: string) =>
      `of all enrolments are completed: ${completed} of ${enrollments}. Not started: ${notStarted}.`,
    activityChanged: (mean: string, before: string, unit: Unit) =>
      `active learners compared with the period before: ${mean} in an average ${unit}, ${before} before that.`,
    activityBegan: (unit: Unit) => `active learners in an average ${unit}; none in the period before.`,
    activityGrew: (before: string, unit: Unit) =>
      `active learners in an average ${unit}; ${before} in the period before.`,
    activityEnded: (before: string, unit: Unit) =>
      `active learners in this period; ${before} in an average ${unit} of the period before.`,
    noActivity: (period: string) => `active learners in the period ${period}, and none in the one before.`,
    passRate: (passed: string, graded: string) =>
      `of graded enrolments reach the passing score of their course: ${passed} of ${graded}.`,
    lowestPassRate: (course: string, passed: string, graded: string, overall: string) =>
      `pass rate in ${course}, the lowest of all courses: ${passed} of ${graded} graded. All courses together: ${overall}.`,
    lowestCompletion: (course: string, highestCourse: string, highest: string) =>
      `completed in ${course}, the lowest of all courses. The highest is ${highestCourse} with ${highest}.`,
    lowestItem: (item: string, course: string, median: string) =>
      `pass rate of ${item} in ${course}, the lowest of all graded items. Its median grade is ${median}.`,
    inactive: (inactive: string, enrollments: string, days: string) =>
      `of all enrolments are inactive: ${inactive} of ${enrollments} have had no access for ${days} days and are not completed.`,
    inactiveMostly: (course: string, inactive: string) => ` Most of them are in ${course}: ${inactive}.`,
  },
  completion: 'Completion',
  completionNote: 'Number of enrolments by percentage of the course that is completed.',
  completionRange: 'Percentage completed',
  share: 'Share',
  activity: 'Activity',
  activeLearners: 'Active learners',
  progressUpdates: 'Progress updates',
  completions: 'Courses completed',
  gradesGiven: 'Grades given',
  perUnit: { day: 'per day', week: 'per week', month: 'per month' },
  unit: { day: 'Day', week: 'Week from', month: 'Month' },
  noActivity: (period: string) => `No learner was active in the period ${period}.`,
  grades: 'Grades',
  gradesNote: 'Number of graded enrolments by grade of the course, in per cent of the maximum.',
  gradeRange: 'Grade',
  above: (percent: string) => `Above ${percent}`,
  noGrades: 'No grades yet.',
  items: 'Grades by item',
  itemsNote:
    'On a scale from 0 to 100%: the hatched bar is the middle half of the grades, the solid mark the median. The pass rate is the share of grades that reach the passing score of the course.',
  moreItems: (count: number, text: string) =>
    `${text} more ${count === 1 ? 'item' : 'items'} with a higher pass rate.`,
  item: 'Item',
  wholeCourse: 'Whole course',
  course: 'Course',
  count: 'Grades',
  spread: 'Spread',
  spreadOf: (lower: string, median: string, upper: string) =>
    `Middle half ${lower} to ${upper}, median ${median}`,
  middleHalf: 'Middle half',
  median: 'Median',
  attention: 'Learners who may need help',
  attentionNote: (day: string) =>
    `Active enrolments in published courses on ${day}. A learner can be counted for several reasons.`,
  reason: 'Reason',
  attentionByCourse: 'By course, most inactive first',
  noAttention: 'No learner needs help for one of these reasons.',
  moreCourses: (count: number, text: string) =>
    `${text} more ${count === 1 ? 'course is' : 'courses are'} not listed.`,
  comparison: 'Courses side by side',
  comparisonNote: 'Highest completion first.',
  standingOf: (completed: string, inProgress: string, notStarted: string) =>
    `${completed} completed, ${inProgress} in progress, ${notStarted} not started`,
  showTable: 'Show as table',
  footnote:
    'Completion, grades and reasons for help are about all current enrolments, whenever they began; only the activity is about the period. A learner in two courses has two enrolments. This report contains no names of learners.',
}

type Unit = 'day' | 'week' | 'month'

export type Words = typeof en

const de: Words = {
  title: 'Lernbericht',
  asOf: (day) => `Stand ${day}`,
  activityIn: (period) => `Aktivität ${period}`,
  courses: (count, text) => `${text} ${count === 1 ? 'Kurs' : 'Kurse'}`,
  learnersCounted: (_, text) => `${text} Lernende`,
  enrollmentsCounted: (count, text) => `${text} ${count === 1 ? 'Einschreibung' : 'Einschreibungen'}`,
  standOut: 'Das fällt auf',
  noLearners: 'Noch ist niemand eingeschrieben, daher gibt es nichts zu berichten.',
  figures: 'Kennzahlen',
  learners: 'Lernende',
  enrollments: 'Einschreibungen',
  completed: 'Abgeschlossen',
  inProgress: 'In Arbeit',
  notStarted: 'Nicht begonnen',
  passRate: 'Bestehensquote',
  medianGrade: 'Median der Noten',
  averageGrade: 'Mittlere Note',
  inactive: 'Inaktiv',
  stuck: 'Ohne Fortschritt',
  notPassed: 'Nicht bestanden',
  inactiveMeans: (days) => `Seit ${days} Tagen kein Zugriff, nicht abgeschlossen`,
  stuckMeans: (percent, days) => `Unter ${percent} abgeschlossen, seit ${days} Tagen kein Fortschritt`,
  notPassedMeans: 'Note unter der Bestehensgrenze des Kurses',
  findings: {
    completion: (completed, enrollments, notStarted) =>
      `aller Einschreibungen sind abgeschlossen: ${completed} von ${enrollments}. Nicht begonnen: ${notStarted}.`,
    activityChanged: (mean, before, unit) =>
      `aktive Lernende gegenüber dem Zeitraum davor: ${mean} im Mittel je ${unitsDe[unit]}, davor ${before}.`,
    activityBegan: (unit) => `aktive Lernende im Mittel je ${unitsDe[unit]}; im Zeitraum davor keine.`,
    activityGrew: (before, unit) =>
      `aktive Lernende im Mittel je ${unitsDe[unit]}; im Zeitraum davor ${before}.`,
    activityEnded: (before, unit) =>
      `aktive Lernende in diesem Zeitraum; davor im Mittel ${before} je ${unitsDe[unit]}.`,
    noActivity: (period) => `aktive Lernende im Zeitraum ${period} und im Zeitraum davor.`,
    passRate: (passed, graded) =>
      `der benoteten Einschreibungen erreichen die Bestehensgrenze ihres Kurses: ${passed} von ${graded}.`,
    lowestPassRate: (course, passed, graded, overall) =>
      `Bestehensquote in ${course}, die niedrigste aller Kurse: ${passed} von ${graded} Benoteten. Alle Kurse zusammen: ${overall}.`,
    lowestCompletion: (course, highestCourse, highest) =>
      `abgeschlossen in ${course}, der niedrigste Wert aller Kurse. Der höchste ist ${highest} in ${highestCourse}.`,
    lowestItem: (item, course, median) =>
      `Bestehensquote bei ${item} in ${course}, die niedrigste aller Leistungen. Der Median der Noten ist ${median}.`,
    inactive: (inactive, enrollments, days) =>
      `aller Einschreibungen sind inaktiv: ${inactive} von ${enrollments} sind seit ${days} Tagen ohne Zugriff und nicht abgeschlossen.`,
    inactiveMostly: (course, inactive) => ` Die meisten davon in ${course}: ${inactive}.`,
  },
  completion: 'Fortschritt',
  completionNote: 'Anzahl der Einschreibungen nach abgeschlossenem Anteil des Kurses.',
  completionRange: 'Abgeschlossener Anteil',
  share: 'Anteil',
  activity: 'Aktivität',
  activeLearners: 'Aktive Lernende',
  progressUpdates: 'Fortschrittsmeldungen',
  completions: 'Abgeschlossene Kurse',
  gradesGiven: 'Vergebene Noten',
  perUnit: { day: 'je Tag', week: 'je Woche', month: 'je Monat' },
  unit: { day: 'Tag', week: 'Woche ab', month: 'Monat' },
  noActivity: (period) => `Im Zeitraum ${period} waren keine Lernenden aktiv.`,
  grades: 'Noten',
  gradesNote: 'Anzahl der benoteten Einschreibungen nach Kursnote, in Prozent der Höchstpunktzahl.',
  gradeRange: 'Note',
  above: (percent) => `Über ${percent}`,
  noGrades: 'Noch keine Noten.',
  items: 'Noten nach Leistung',
  itemsNote:
    'Auf einer Skala von 0 bis 100 %: Der schraffierte Balken ist die mittlere Hälfte der Noten, die volle Marke der Median. Die Bestehensquote ist der Anteil der Noten, die die Bestehensgrenze des Kurses erreichen.',
  moreItems: (count, text) =>
    `${text} weitere ${count === 1 ? 'Leistung' : 'Leistungen'} mit höherer Bestehensquote.`,
  item: 'Leistung',
  wholeCourse: 'Gesamter Kurs',
  course: 'Kurs',
  count: 'Noten',
  spread: 'Verteilung',
  spreadOf: (lower, median, upper) => `Mittlere Hälfte ${lower} bis ${upper}, Median ${median}`,
  middleHalf: 'Mittlere Hälfte',
  median: 'Median',
  attention: 'Lernende, die Hilfe brauchen könnten',
  attentionNote: (day) =>
    `Aktive Einschreibungen in veröffentlichten Kursen am ${day}. Lernende können aus mehreren Gründen gezählt sein.`,
  reason: 'Grund',
  attentionByCourse: 'Nach Kurs, die meisten Inaktiven zuerst',
  noAttention: 'Niemand braucht aus einem dieser Gründe Hilfe.',
  moreCourses: (count, text) =>
    `${text} ${count === 1 ? 'weiterer Kurs ist' : 'weitere Kurse sind'} nicht aufgeführt.`,
  comparison: 'Kurse im Vergleich',
  comparisonNote: 'Der höchste abgeschlossene Anteil zuerst.',
  standingOf: (completed, inProgress, notStarted) =>
    `${completed} abgeschlossen, ${inProgress} in Arbeit, ${notStarted} nicht begonnen`,
  showTable: 'Als Tabelle zeigen',
  footnote:
    'Fortschritt, Noten und Hilfebedarf betreffen alle derzeitigen Einschreibungen, wann immer sie begannen; nur die Aktivität betrifft den Zeitraum. Wer zwei Kurse besucht, hat zwei Einschreibungen. Dieser Bericht enthält keine Namen von Lernenden.',
}

const unitsDe = { day: 'Tag', week: 'Woche', month: 'Monat' } as const

export const wordsByLanguage: Readonly<Record<ReportLanguage, Words>> = { en, de }
