// A clevis bracket: a wall plate with four bolt holes and two lugs that carry a pin.
// Own design; lengths in millimetres.  Meshed (Gmsh 4.8.4, OpenCASCADE kernel) with
//
//   gmsh -3 -nt 1 -format msh22 -o bracket.msh bracket.geo
//
// Format 2.2 in ASCII is read by every PETSc without another library.
// Physical surfaces: "clamp" (back of the wall plate, walls of the bolt holes), "load" (walls of the pin holes).

SetFactory("OpenCASCADE");

W = 84;    // wall plate: width (y)
H = 100;   // wall plate: height (z)
T = 10;    // wall plate: thickness (x)
L = 60;    // distance of the pin from the back of the wall plate
R = 18;    // outer radius of a lug
P = 9;     // radius of the pin holes
B = 5.5;   // radius of the bolt holes
C = 12;    // distance of a bolt hole from the edges of the plate
G = 18;    // clear width between the lugs
S = 15;    // thickness of a lug
foot = 24; // half the height of a lug where it meets the plate
F = 5;     // radius of the fillets at the foot of the lugs
eps = 1e-3;

// The wall plate; its four edges along x are rounded.
Box(1) = {0, -W/2, -H/2, T, W, H};
round() = {};
For i In {-1 : 1 : 2}
  For j In {-1 : 1 : 2}
    round() += Curve In BoundingBox{-eps, i*W/2 - eps, j*H/2 - eps, T + eps, i*W/2 + eps, j*H/2 + eps};
  EndFor
EndFor
plate() = Fillet{1}{round()}{10};

// A lug: a square foot, then flanks that run tangent into the round end about the pin.
K = T + F + 3;
d = L - K;
t = Atan2(foot, -d) - Acos(R / Sqrt(d*d + foot*foot));
Point(1001) = {T/2,            G/2,  foot};
Point(1002) = {K,              G/2,  foot};
Point(1003) = {L + R*Cos(t),   G/2,  R*Sin(t)};
Point(1004) = {L,              G/2,  0};
Point(1005) = {L + R,          G/2,  0};
Point(1006) = {L + R*Cos(t),   G/2, -R*Sin(t)};
Point(1007) = {K,              G/2, -foot};
Point(1008) = {T/2,            G/2, -foot};
Line(1001)   = {1001, 1002};
Line(1002)   = {1002, 1003};
Circle(1003) = {1003, 1004, 1005};
Circle(1004) = {1005, 1004, 1006};
Line(1005)   = {1006, 1007};
Line(1006)   = {1007, 1008};
Line(1007)   = {1008, 1001};
Curve Loop(1001) = {1001 : 1007};
Plane Surface(1001) = {1001};
lug() = Extrude{0, S, 0}{ Surface{1001}; };
lug2() = Symmetry{0, 1, 0, 0}{ Duplicata{ Volume{lug(1)}; } };
body() = BooleanUnion{ Volume{plate()}; Delete; }{ Volume{lug(1), lug2()}; Delete; };

// Fillets around both feet, then the holes.
feet() = {};
For i In {-1 : 1 : 2}
  y = i*(G + S)/2;
  feet() += Curve In BoundingBox{T - eps, y - S/2 - eps, -foot - eps, T + eps, y + S/2 + eps, foot + eps};
EndFor
body() = Fillet{body()}{feet()}{F};
Cylinder(2001) = {L, -W, 0, 0, 2*W, 0, P};
Cylinder(2002) = {-T, -W/2 + C, -H/2 + C, 3*T, 0, 0, B};
Cylinder(2003) = {-T,  W/2 - C, -H/2 + C, 3*T, 0, 0, B};
Cylinder(2004) = {-T, -W/2 + C,  H/2 - C, 3*T, 0, 0, B};
Cylinder(2005) = {-T,  W/2 - C,  H/2 - C, 3*T, 0, 0, B};
body() = BooleanDifference{ Volume{body()}; Delete; }{ Volume{2001 : 2005}; Delete; };

bolts() = {};
For i In {-1 : 1 : 2}
  For j In {-1 : 1 : 2}
    y = i*(W/2 - C);
    z = j*(H/2 - C);
    bolts() += Surface In BoundingBox{-eps, y - B - eps, z - B - eps, T + eps, y + B + eps, z + B + eps};
  EndFor
EndFor
pins() = {};
For i In {-1 : 1 : 2}
  y = i*(G + S)/2;
  pins() += Surface In BoundingBox{L - P - eps, y - S/2 - eps, -P - eps, L + P + eps, y + S/2 + eps, P + eps};
EndFor
back() = Surface In BoundingBox{-eps, -W/2 - eps, -H/2 - eps, eps, W/2 + eps, H/2 + eps};
Physical Surface("clamp") = {back(), bolts()};
Physical Surface("load") = pins();
Physical Volume("bracket") = body();

Mesh.MeshSizeMax = 7;
Mesh.MeshSizeFromCurvature = 12;  // elements a full turn: finer at holes and fillets
Mesh.MeshSizeMin = 3;
Mesh.Algorithm = 6;               // frontal on the surfaces
Mesh.Algorithm3D = 1;             // Delaunay; one thread: the same mesh each time
Mesh.Optimize = 1;
Mesh.OptimizeThreshold = 0.4;
