/** Versions of OneRoster's CSV binding that exports write. */
export const oneRosterVersions = ['1.2', '1.1'] as const
export type OneRosterVersion = (typeof oneRosterVersions)[number]

/** Columns that each table of both versions begins with; in a bulk file the last two are empty. */
const common = ['sourcedId', 'status', 'dateLastModified']

/** Columns of the tables that both versions share, in the order of the specification. */
export const tableColumns = {
  orgs: [...common, 'name', 'type', 'identifier', 'parentSourcedId'],
  academicSessions: [...common, 'title', 'type', 'startDate', 'endDate', 'parentSourcedId', 'schoolYear'],
  courses: [
    ...common,
    ...['schoolYearSourcedId', 'title', 'courseCode', 'grades', 'orgSourcedId', 'subjects', 'subjectCodes'],
  ],
  classes: [
    ...common,
    ...['title', 'grades', 'courseSourcedId', 'classCode', 'classType', 'location', 'schoolSourcedId'],
    ...['termSourcedIds', 'subjects', 'subjectCodes', 'periods'],
  ],
  enrollments: [
    ...common,
    ...['classSourcedId', 'schoolSourcedId', 'userSourcedId', 'role', 'primary', 'beginDate', 'endDate'],
  ],
  roles: [
    ...common,
    ...['userSourcedId', 'roleType', 'role', 'beginDate', 'endDate', 'orgSourcedId', 'userProfileSourcedId'],
  ],
} as const

/** Columns of users in both versions. */
export const userColumns: Readonly<Record<OneRosterVersion, readonly string[]>> = {
  '1.1': [
    ...[...common, 'enabledUser', 'orgSourcedIds', 'role', 'username', 'userIds', 'givenName', 'familyName'],
    ...['middleName', 'identifier', 'email', 'sms', 'phone', 'agentSourcedIds', 'grades', 'password'],
  ],
  '1.2': [
    ...[...common, 'enabledUser', 'username', 'userIds', 'givenName', 'familyName', 'middleName'],
    ...[
      'identifier',
      'email',
      'sms',
      'phone',
      'agentSourcedIds',
      'grades',
      'password',
      'userMasterIdentifier',
    ],
    ...[
      'preferredGivenName',
      'preferredMiddleName',
      'preferredFamilyName',
      'primaryOrgSourcedId',
      'pronouns',
    ],
  ],
}

const lineItemColumns = [
  ...[...common, 'title', 'description', 'assignDate', 'dueDate', 'classSourcedId', 'categorySourcedId'],
]
const resultColumns = [
  ...[...common, 'lineItemSourcedId', 'studentSourcedId', 'scoreStatus', 'score', 'scoreDate', 'comment'],
]
/** Columns of the tables with grades in both versions. */
export const gradebookColumns = {
  '1.1': {
    categories: [...common, 'title'],
    lineItems: [...lineItemColumns, 'gradingPeriodSourcedId', 'resultValueMin', 'resultValueMax'],
    results: resultColumns,
  },
  '1.2': {
    categories: [...common, 'title', 'weight'],
    lineItems: [
      ...[
        ...lineItemColumns,
        'academicSessionSourcedId',
        'resultValueMin',
        'resultValueMax',
        'schoolSourcedId',
      ],
    ],
    results: [
      ...[...resultColumns, 'textScore', 'classSourcedId', 'inProgress', 'incomplete', 'late', 'missing'],
    ],
  },
} as const

const filesOf11 = [
  ...['academicSessions', 'categories', 'classes', 'classResources', 'courses', 'courseResources'],
  ...['demographics', 'enrollments', 'lineItems', 'orgs', 'resources', 'results', 'users'],
]
/** Files that a manifest lists, present or absent. */
export const filesOf: Readonly<Record<OneRosterVersion, readonly string[]>> = {
  '1.1': filesOf11,
  '1.2': [
    ...filesOf11,
    ...[
      'lineItemLearningObjectiveIds',
      'lineItemScoreScales',
      'resultLearningObjectiveIds',
      'resultScoreScales',
    ],
    ...['roles', 'scoreScales', 'userProfiles', 'userResources'],
  ].sort(),
}

/** Names of all files that a package may have. */
export const oneRosterFiles: readonly string[] = ['manifest', ...filesOf['1.2']].map((name) => `${name}.csv`)
