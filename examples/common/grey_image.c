#include "grey_image.h"
#include <stdio.h>
#include <string.h>

#define CheckImage(condition, path, format, ...) \
  PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "-image: %s: " format, path, __VA_ARGS__)

/* Pixels of one or two bytes (the higher first), rows from the top or the bottom, columns from the left or the right */
static PetscErrorCode ReadPixels(FILE* file, const char path[], int most, PetscBool from_top, PetscBool from_right,
                                 GreyImage* image) {
  const PetscInt64 n = (PetscInt64)image->width * image->height;
  const long at = ftell(file);
  long left;

  PetscFunctionBeginUser;
  CheckImage(image->width > 0 && image->height > 0 && n < 0x40000000, path,
             "%" PetscInt_FMT " x %" PetscInt_FMT " pixels; 1 x 1 to 2^30 in all are read", image->width,
             image->height);
  CheckImage(at >= 0 && !fseek(file, 0, SEEK_END) && (left = ftell(file) - at) >= 0 && !fseek(file, at, SEEK_SET), path,
             "%s", "the file cannot be read at any place; give an ordinary file");
  left /= most > 255 ? 2 : 1;
  CheckImage(n <= left, path, "the file ends after %ld of %" PetscInt_FMT " x %" PetscInt_FMT " pixels", left,
             image->width, image->height);
  PetscCall(PetscMalloc1(n, &image->grey));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt row = i / image->width, column = i % image->width;
    const PetscInt place =
        (from_top ? image->height - 1 - row : row) * image->width + (from_right ? image->width - 1 - column : column);
    int value = fgetc(file);

    if (most > 255 && value != EOF) value = 256 * value + fgetc(file);
    CheckImage(value >= 0 && value <= most, path,
               "pixel %" PetscInt_FMT " of row %" PetscInt_FMT
               " is %d, but white is %d by the header; the file is damaged. Convert it anew: magick IMAGE -colorspace "
               "Gray image.pgm",
               column, row, value, most);
    image->grey[place] = (PetscReal)value / most;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadTga(FILE* file, const char path[], GreyImage* image) {
  unsigned char h[18];

  PetscFunctionBeginUser;
  CheckImage(fread(h, 1, 18, file) == 18, path, "%s", "the file is shorter than a TGA header");
  CheckImage(h[1] == 0 && h[2] == 3 && h[16] == 8, path,
             "found TGA of type %d with %d bits a pixel%s; type 3 (grey, not compressed) with 8 bits is read. Convert "
             "it: magick IMAGE -colorspace Gray image.pgm",
             h[2], h[16], h[1] ? " and a colour map" : "");
  image->width = h[12] + 256 * h[13];
  image->height = h[14] + 256 * h[15];
  for (int i = 0; i < h[0]; i++) (void)fgetc(file); /* the image's name */
  PetscCall(ReadPixels(file, path, 255, (PetscBool)((h[17] & 0x20) != 0), (PetscBool)((h[17] & 0x10) != 0), image));
  PetscFunctionReturn(0);
}

/* The next number of a PGM header; comments run from # to the end of the line */
static int NextNumber(FILE* file) {
  int n, c;

  while ((c = fgetc(file)) == '#' || c == ' ' || c == '\t' || c == '\r' || c == '\n')
    while (c == '#' && (n = fgetc(file)) != '\n' && n != EOF) {
    }
  ungetc(c, file);
  return fscanf(file, "%7d", &n) == 1 ? n : -1;
}

static PetscErrorCode ReadPgm(FILE* file, const char path[], GreyImage* image) {
  char magic[3] = "";
  int most;

  PetscFunctionBeginUser;
  CheckImage(fread(magic, 1, 2, file) == 2 && !strcmp(magic, "P5"), path,
             "found \"%s\"; a PGM file of bytes begins with P5. Convert it: magick IMAGE -colorspace Gray image.pgm",
             magic);
  image->width = NextNumber(file);
  image->height = NextNumber(file);
  most = NextNumber(file);
  CheckImage(most > 0 && most < 65536, path,
             "width, height, white: %" PetscInt_FMT ", %" PetscInt_FMT ", %d; white is 1 to 65535", image->width,
             image->height, most);
  (void)fgetc(file); /* one white space */
  PetscCall(ReadPixels(file, path, most, PETSC_TRUE, PETSC_FALSE, image));
  PetscFunctionReturn(0);
}

PetscErrorCode GreyImageRead(const char path[], GreyImage* image) {
  const char* dot = strrchr(path, '.');
  PetscErrorCode code;
  PetscBool tga, pgm, found;
  FILE* file;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcasecmp(dot ? dot : "", ".tga", &tga));
  PetscCall(PetscStrcasecmp(dot ? dot : "", ".pgm", &pgm));
  CheckImage(tga || pgm, path, "%s",
             "the name must end in .tga or .pgm. Convert it: magick IMAGE -colorspace Gray image.pgm");
  PetscCall(PetscTestFile(path, 'r', &found));
  file = found ? fopen(path, "rb") : NULL;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN,
             "-image: cannot read the file %s; check the path and its permissions", path);
  code = tga ? ReadTga(file, path, image) : ReadPgm(file, path, image);
  fclose(file);
  PetscCall(code);
  PetscFunctionReturn(0);
}

/* Pixel (x, y) covers the texture from (x, y) / size on: no shift by half a pixel, as in the authors' program */
PetscReal GreyImageSample(const GreyImage* image, PetscReal u, PetscReal v) {
  const PetscReal x = u * image->width, y = v * image->height, fx = x - PetscFloorReal(x), fy = y - PetscFloorReal(y);
  PetscReal sum = 0;

  for (int i = 0; i < 4; i++) { /* beyond the margin the image goes on as at the margin */
    const PetscReal column = PetscMax(0, PetscMin(image->width - 1, PetscFloorReal(x) + i % 2));
    const PetscReal row = PetscMax(0, PetscMin(image->height - 1, PetscFloorReal(y) + i / 2));

    sum += (i % 2 ? fx : 1 - fx) * (i / 2 ? fy : 1 - fy) * image->grey[(PetscInt)row * image->width + (PetscInt)column];
  }
  return sum;
}

PetscErrorCode GreyImageDestroy(GreyImage* image) {
  PetscFunctionBeginUser;
  PetscCall(PetscFree(image->grey));
  PetscFunctionReturn(0);
}
