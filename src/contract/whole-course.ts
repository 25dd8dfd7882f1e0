/** The item of a gradebook that stands for the course as a whole. */
export const wholeCourse = '$course'
